import { readFileSync } from 'node:fs';
import { ERROR_TABLE, errorEnvelope, fromErrorReply, GatewayError, toErrorReply, type ErrorReply } from './errors.js';
import { DEFAULT_MAX_JSON_BYTES, DEFAULT_MEDIA_LIMITS, fileTooLarge } from './media.js';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

describe('the error table', () => {
  it('has exactly one section of the errors page for each status, with its anchor and retry advice', () => {
    const sections = [...page.matchAll(/^## (\d{3}) .*\{#([a-z-]+)\}\n+Retry: (yes|no)/gm)].map(
      ([, status, anchor, retry]) => ({
        status: Number(status),
        anchor,
        retryable: retry === 'yes',
      }),
    );
    const table = Object.entries(ERROR_TABLE).map(([status, { anchor, retryable }]) => ({
      status: Number(status),
      anchor,
      retryable,
    }));
    expect(sections).toEqual(table);
  });

  it('has the default size limits on the errors page', () => {
    const section = page.slice(page.indexOf('{#file-too-large}'), page.indexOf('{#rate-limit}'));
    const documented = [...section.matchAll(/(\d+) MiB/g)].map(([, mebibytes]) => Number(mebibytes));
    const limits = new Set(
      [...Object.values(DEFAULT_MEDIA_LIMITS), DEFAULT_MAX_JSON_BYTES].map((bytes) => bytes / 1024 / 1024),
    );
    expect(new Set(documented)).toEqual(limits);
    expect(section).toContain(`\`${fileTooLarge('image', DEFAULT_MEDIA_LIMITS).details}\``);
  });

  it('survives a queue as a value', () => {
    const error = new GatewayError(503, { details: 'waking from hibernation', retryAfterS: 3 });
    const copy = fromErrorReply(JSON.parse(JSON.stringify(toErrorReply(error))) as ErrorReply);
    expect(copy).toMatchObject({ status: 503, message: error.message, details: error.details, retryAfterS: 3 });
  });

  it('becomes 502 when it is of a later version, with a status that is not in the table', () => {
    const later = JSON.parse('{"status":599,"message":"new"}') as ErrorReply;
    expect(fromErrorReply(later)).toMatchObject({ status: 502, message: 'session runtime error' });
  });

  it('leaves details out of the envelope when there are none', () => {
    const site = { docsUrl: 'https://docs.example.com', supportAddress: 'support@example.com' };
    expect(errorEnvelope(new GatewayError(429), site)).toEqual({
      error: {
        code: 429,
        message: 'rate limit exceeded',
        href: 'https://docs.example.com/errors#rate-limit',
        support: 'support@example.com',
      },
    });
  });
});

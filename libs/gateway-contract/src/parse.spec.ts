import type { z } from 'zod';
import { GatewayError } from './errors.js';
import { listMessagesQuery, sendTextBody } from './messages.js';
import { parseInput } from './parse.js';
import { settingsPatchBody } from './settings.js';

const detailsOf = (schema: z.ZodType, value: unknown): string | undefined => {
  try {
    parseInput(schema, value);
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.details;
    throw error;
  }
  return undefined;
};

describe('parseInput', () => {
  it.each([
    [sendTextBody, { to: '15550001111' }, 'body: required'],
    [sendTextBody, { body: 'x' }, 'to: required'],
    [sendTextBody, { to: '15550001111', body: null }, 'body: required'],
    [sendTextBody, { to: '15550001111', body: 5 }, 'body: must be text'],
    [sendTextBody, [], 'body: a JSON object is expected'],
    [sendTextBody, undefined, 'body: a JSON object is expected'],
    [sendTextBody, { to: '+15550001111', body: 'x' }, 'to: digits without +, <digits>@s.whatsapp.net or <group>@g.us'],
    [listMessagesQuery, { count: '501' }, 'count: must be between 1 and 500'],
    [listMessagesQuery, { from_me: 'yes' }, 'from_me: must be true or false'],
    [settingsPatchBody, { callback_backoff_delay_ms: 10 }, 'callback_backoff_delay_ms: must be between 3000 and 15000'],
    [settingsPatchBody, { webhooks: [{ url: 'ftp://x' }] }, 'webhooks.0.url: must start with http:// or https://'],
    [settingsPatchBody, { auto_presence: 'x' }, 'auto_presence: must be one of none, online, typing, recording'],
  ])('names the field and the reason (%#)', (schema, value, details) => {
    expect(detailsOf(schema, value)).toBe(details);
  });

  it('takes null as absent at every depth', () => {
    const body = parseInput(sendTextBody, { to: '15550001111', body: 'hi', quoted: null, typing_time: null });
    expect(body).toEqual({ to: '15550001111', body: 'hi' });
    const patch = parseInput(settingsPatchBody, { webhooks: [{ url: 'https://a.example', headers: null }] });
    expect(patch.webhooks?.[0]).not.toHaveProperty('headers');
  });

  it('ignores unknown fields', () => {
    expect(parseInput(sendTextBody, { to: '15550001111', body: 'hi', resource: 'x' })).toEqual({
      to: '15550001111',
      body: 'hi',
    });
  });

  it('reads list times from 1e12 on as milliseconds', () => {
    expect(parseInput(listMessagesQuery, { time_from: '1790000000000' }).time_from).toBe(1_790_000_000);
  });
});

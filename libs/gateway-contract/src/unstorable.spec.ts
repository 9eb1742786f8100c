import type { z } from 'zod';
import { checkContactsBody } from './contacts.js';
import { GatewayError } from './errors.js';
import { createGroupBody } from './groups.js';
import { requireLookable } from './ids.js';
import { sendImageBody } from './media-messages.js';
import { editMessageBody, reactionBody } from './message-actions.js';
import { listMessagesQuery, sendTextBody } from './messages.js';
import { parseInput } from './parse.js';
import { sendContactBody, sendLocationBody, sendPollBody } from './plain-messages.js';
import { updateProfileBody } from './profile.js';
import { listMediaQuery } from './media.js';
import { DEFAULT_SETTINGS, settingsOf, settingsPatchBody } from './settings.js';

const refusal = (read: () => unknown): { status: number; details: string | undefined } | undefined => {
  try {
    read();
  } catch (error) {
    if (error instanceof GatewayError) return { status: error.status, details: error.details };
    throw error;
  }
  return undefined;
};
const UNSTORABLE = ['\u0000', '\u0001', '\u001b', '\u007f', '\u0085', '\ud800', '\udfff', '\ude00\ud83d'];
const url = 'https://a.example/';

describe('characters that no store and no header can hold', () => {
  it.each([
    [settingsPatchBody, 'mobile_proxy', (bad: string) => ({ mobile_proxy: `a${bad}b` })],
    [settingsPatchBody, 'on_call_pager', (bad: string) => ({ on_call_pager: `a${bad}b` })],
    [settingsPatchBody, 'proxy', (bad: string) => ({ proxy: `socks5://user:a${bad}b@proxy.example:1080` })],
    [settingsPatchBody, 'webhooks.0.url', (bad: string) => ({ webhooks: [{ url: `${url}${bad}` }] })],
    [settingsPatchBody, 'webhooks.0.headers.a', (bad: string) => ({ webhooks: [{ url, headers: { a: `x${bad}` } }] })],
    [settingsPatchBody, 'ignored_presences.0', (bad: string) => ({ ignored_presences: [`15550001111@c.us${bad}`] })],
    [updateProfileBody, 'name', (bad: string) => ({ name: `Example${bad}Shop` })],
    [updateProfileBody, 'about', (bad: string) => ({ about: `open${bad}daily` })],
    [sendImageBody, 'mime_type', (bad: string) => ({ to: '15550001111', media: url, mime_type: `image/${bad}` })],
  ] satisfies [z.ZodType, string, (bad: string) => unknown][])(
    'are 400 in settings and profile (%#)',
    (schema, field, bodyWith) => {
      for (const bad of UNSTORABLE) {
        const found = refusal(() => parseInput(schema, bodyWith(bad)));
        expect(found?.status).toBe(400);
        expect(found?.details?.startsWith(`${field}: `)).toBe(true);
      }
      expect(refusal(() => parseInput(schema, bodyWith('\u{1f600}')))?.details ?? '').not.toContain('surrogate');
    },
  );

  it('stay in what people write to each other', () => {
    const bad = UNSTORABLE.join('x');
    const to = '15550001111';
    const writings: [z.ZodType, unknown][] = [
      [sendTextBody, { to, body: bad }],
      [editMessageBody, { body: bad }],
      [reactionBody, { emoji: bad }],
      [sendImageBody, { to, media: url, caption: bad }],
      [sendPollBody, { to, title: bad, options: [bad, 'b'] }],
      [sendContactBody, { to, name: bad, vcard: `${bad}\r\n` }],
      [sendLocationBody, { to, latitude: 1, longitude: 1, name: bad, address: bad }],
      [createGroupBody, { subject: bad, participants: [to] }],
      [checkContactsBody, { contacts: [bad] }],
      [updateProfileBody, { about: 'two\nlines' }],
    ];
    for (const [schema, body] of writings) expect(refusal(() => parseInput(schema, body))).toBeUndefined();
  });

  it('make an id one that nothing has', () => {
    for (const bad of UNSTORABLE) {
      const found = refusal(() => requireLookable('MessageID', `a${bad}b`));
      expect(found).toEqual({ status: 404, details: 'MessageID: no id has control characters' });
    }
    expect(requireLookable('MessageID', 'any ü thing \u{1f600}')).toBe('any ü thing \u{1f600}');
  });
});

describe('numbers beyond what a store can hold', () => {
  it.each(['99999999999999999999', '8640000000000001', '9999999999999999999.5'])('are 400 as a time (%s)', (time) => {
    for (const schema of [listMessagesQuery, listMediaQuery]) {
      for (const name of ['time_from', 'time_to']) {
        expect(refusal(() => parseInput(schema, { [name]: time }))?.details).toBe(`${name}: must be epoch seconds`);
      }
    }
    expect(parseInput(listMediaQuery, { time_to: '1790000000000' }).time_to).toBe(1_790_000_000);
  });
});

describe('the limits of webhooks', () => {
  const detailsOf = (patch: unknown) => refusal(() => parseInput(settingsPatchBody, patch))?.details;
  const webhooks = (count: number) => Array.from({ length: count }, () => ({ url }));

  it('are 400 that names the field', () => {
    expect(detailsOf({ webhooks: webhooks(11) })).toBe('webhooks: must have at most 10 entries');
    expect(detailsOf({ webhooks: [{ url: url.padEnd(2_049, 'x') }] })).toBe(
      'webhooks.0.url: must have at most 2048 characters',
    );
    expect(detailsOf({ webhooks: [{ url, headers: { a: 'x'.repeat(4_096) } }] })).toBe(
      'webhooks.0.headers: must have at most 4096 bytes in all',
    );
    expect(detailsOf({ webhooks: [{ url, headers: { a: 'é'.repeat(2_048) } }] })).toContain('4096 bytes');
    expect(
      detailsOf({ webhooks: [{ url, headers: Object.fromEntries('abcdef'.split('').map((name) => [name, ''])) }] }),
    ).toBe('webhooks.0.headers: must have at most 5 entries');
    expect(detailsOf({ webhooks: [{ url, events: Array(101).fill({ type: 'messages' }) }] })).toBe(
      'webhooks.0.events: must have at most 100 entries',
    );
    expect(detailsOf({ webhooks: [{ url, headers: { 'a b': 'x' } }] })).toBe(
      'webhooks.0.headers.a b: must be header names',
    );
    expect(detailsOf({ on_call_pager: 'x'.repeat(513) })).toBe('on_call_pager: must have at most 512 characters');
  });

  it('leave room for what is usual', () => {
    const headers = { Authorization: `Bearer ${'x'.repeat(2_000)}`, 'X-Shop': 'Größe\t1' };
    expect(detailsOf({ webhooks: Array(10).fill({ url: url.padEnd(2_048, 'x'), headers }) })).toBeUndefined();
  });

  it('take nothing away that a channel has from before', () => {
    const before = {
      webhooks: Array(12).fill({ url: url.padEnd(4_000, 'x'), headers: { a: 'x'.repeat(9_000) } }),
      proxy: '',
    };
    expect(settingsOf(before).webhooks).toHaveLength(12);
    expect(settingsOf({ ...before, proxy: 'socks5://user:a\u0001b@proxy.example:1080' }).proxy).not.toBe(
      DEFAULT_SETTINGS.proxy,
    );
  });
});

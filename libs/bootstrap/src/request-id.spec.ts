import { newRequestId, requestIdFrom } from './request-id.js';

describe('request ids', () => {
  it('are UUIDs of version 7 that sort by time', () => {
    expect(newRequestId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(newRequestId(0x0123_4567_89ab)).toMatch(/^01234567-89ab-7/);
    expect(newRequestId(1_000) < newRequestId(2_000)).toBe(true);
  });

  it('are taken over from the caller only where they are harmless', () => {
    expect(requestIdFrom('order-2026.11.28:77')).toBe('order-2026.11.28:77');
    for (const odd of [undefined, '', 'short', 'a b c d e f g', 'x'.repeat(129), 'a\r\nSet-Cookie: x', ['a', 'b']]) {
      expect(requestIdFrom(odd)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    }
  });
});

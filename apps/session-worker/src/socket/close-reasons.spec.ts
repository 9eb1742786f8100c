import { DisconnectReason } from '@whiskeysockets/baileys';
import {
  ATTEMPTS_USED_UP,
  CLOSE_REASONS,
  closeReason,
  needsPerson,
  STATE_UNREADABLE,
  PROXY_REFUSED,
  PROXY_UNREACHABLE,
  STORES_AWAY,
} from './close-reasons.js';

describe('close reasons', () => {
  it('hold every reason that Baileys knows', () => {
    const codes = Object.values(DisconnectReason).filter((code) => typeof code === 'number');
    expect(codes.filter((code) => !CLOSE_REASONS.has(code))).toEqual([]);
  });

  it('have distinct names', () => {
    const own = [ATTEMPTS_USED_UP, STATE_UNREADABLE, STORES_AWAY, PROXY_REFUSED, PROXY_UNREACHABLE];
    const names = [...CLOSE_REASONS.values(), ...own].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('never retry a ban, a lock or an unlink, and notifies the customer', () => {
    for (const code of [401, 402, 403, 406]) {
      expect(closeReason(code).next).not.toBe('retry');
      expect(closeReason(code).notifies).toBe('customer');
    }
  });

  it('wipe the credentials only when the network has forgotten the device', () => {
    const wiping = [...CLOSE_REASONS].filter(([, { next }]) => next === 'unlink').map(([code]) => code);
    expect(wiping).toEqual([401]);
  });

  it('retry an unknown code', () => {
    expect(closeReason(599)).toMatchObject({ name: 'unknown', next: 'retry' });
    expect(closeReason(undefined)).toMatchObject({ next: 'retry' });
  });

  it('let a new owner try again unless a person must act', () => {
    expect(needsPerson('banned')).toBe(true);
    expect(needsPerson(ATTEMPTS_USED_UP.name)).toBe(false);
    expect(needsPerson(STORES_AWAY.name)).toBe(false);
    expect(needsPerson(null)).toBe(false);
  });
});

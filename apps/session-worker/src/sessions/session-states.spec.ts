import { SESSION_STATES } from '@dormouse/gateway-contract';
import { assertMove, canMove, FIRST_STATE, reachableFrom, resumed, SESSION_MOVES } from './session-states.js';

describe('session states', () => {
  it('can all be reached from the first one', () => {
    expect([...reachableFrom(FIRST_STATE)].sort()).toEqual([...SESSION_STATES].sort());
  });

  it('lead from everywhere to open and to closed', () => {
    for (const state of SESSION_STATES) {
      expect(reachableFrom(state)).toContain('open');
      expect(reachableFrom(state)).toContain('closed');
    }
  });

  it('name a reason for every move', () => {
    const reasons = Object.values(SESSION_MOVES).flatMap((moves) => Object.values(moves));
    expect(reasons.every((reason) => reason.length > 0)).toBe(true);
  });

  it('refuse a move that the table does not hold', () => {
    expect(canMove('qr', 'open')).toBe(false);
    expect(() => assertMove('closed', 'open')).toThrow('closed to open');
    expect(() => assertMove('open', 'open')).not.toThrow();
  });

  it('are continued by a new owner: sockets and pairings are gone, sleeping sessions sleep on', () => {
    expect(SESSION_STATES.map((state) => resumed(state, true))).toEqual([
      'closed',
      'connecting',
      'connecting',
      'connecting',
      'connecting',
      'hibernated',
      'hibernated',
    ]);
    expect(resumed('qr', false)).toBe('closed');
    expect(resumed('connecting', false)).toBe('closed');
  });
});

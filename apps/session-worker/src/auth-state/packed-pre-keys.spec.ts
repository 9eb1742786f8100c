import { randomBytes } from 'node:crypto';
import { UnsealableError } from '../encryption/sealing.js';
import { arePacked, keysOfRows, PACKED, PRE_KEY, REMOVED, rowsWithPacked } from './packed-pre-keys.js';
import { packText, stateText, type PlainKey, type PlainState } from './plain-state.js';

const preKey = (id: number, value = `pre-key ${id}`): PlainKey => ({
  type: PRE_KEY,
  id: `${id}`,
  plain: Buffer.from(value),
});
const session: PlainKey = { type: 'session', id: 'friend', plain: Buffer.from('ratchet') };
const many = Array.from({ length: 100 }, (_, index) => preKey(index + 1));
const keys = [session, ...many];

const sealedOf = (state: PlainState): Promise<Buffer> => packText(stateText(state));
const stateOf = (given: readonly PlainKey[]): PlainState => ({ creds: Buffer.from('{}'), keys: given });
const rowsOf = async (given: readonly PlainKey[]): Promise<readonly PlainKey[]> =>
  rowsWithPacked(stateOf(given), await sealedOf(stateOf(given)));

const sorted = (given: readonly PlainKey[]): string[] =>
  given.map(({ type, id, plain }) => `${type} ${id} ${plain.toString()}`).sort();

describe('packed pre-keys', () => {
  it('leave rows for everything else, for the newest pre-key, and one for all others', async () => {
    const rows = await rowsOf(keys);
    expect(rows.map(({ type, id }) => `${type} ${id}`)).toEqual([
      'session friend',
      'pre-key 100',
      `${PACKED.type} ${PACKED.id}`,
    ]);
    expect(sorted(await keysOfRows('spec', rows))).toEqual(sorted(keys));
  });

  it('are outdated by rows of their own: replaced, removed, and new ones', async () => {
    const rows = await rowsOf(keys);
    const later = [
      ...rows.filter(({ id }) => id !== '100'),
      { ...preKey(100), plain: REMOVED },
      { ...preKey(7), plain: REMOVED },
      preKey(8, 'another'),
      preKey(101),
    ];
    const expected = [
      session,
      ...many.filter(({ id }) => !['7', '8', '100'].includes(id)),
      preKey(8, 'another'),
      preKey(101),
    ];
    expect(sorted(await keysOfRows('spec', later))).toEqual(sorted(expected));
  });

  it('give back no other key of the time when the session fell asleep', async () => {
    const moved = { ...session, plain: Buffer.from('a later step') };
    const rows = (await rowsOf(keys)).map((key) => (key === session ? moved : key));
    const found = await keysOfRows('spec', rows);
    expect(found.filter(({ type }) => type === 'session')).toEqual([moved]);
    const without = await keysOfRows(
      'spec',
      rows.filter((key) => key !== moved),
    );
    expect(without.some(({ type }) => type === 'session')).toBe(false);
  });

  it('are not given back where removed ones have left empty rows without the packed row', async () => {
    const left = { ...preKey(3), plain: REMOVED };
    expect(await keysOfRows('spec', [session, preKey(1), left])).toEqual([session, preKey(1)]);
  });

  it('are the state as it was sealed, but without what else a number with many contacts has', async () => {
    const packedOf = async (given: readonly PlainKey[]): Promise<Buffer | undefined> =>
      (await rowsOf(given)).find(({ type }) => type === PACKED.type)?.plain;
    expect(await packedOf(keys)).toEqual(await sealedOf(stateOf(keys)));
    const contacts = Array.from({ length: 500 }, (_, n) => ({
      type: 'session',
      id: `contact ${n}`,
      plain: randomBytes(1_000),
    }));
    const large = [...contacts, ...keys];
    expect(await packedOf(large)).toEqual(await sealedOf(stateOf(many)));
    expect(sorted(await keysOfRows('spec', await rowsOf(large)))).toEqual(sorted(large));
  });

  it('are not made of a few', async () => {
    const few = [session, preKey(1), preKey(2)];
    const rows = await rowsOf(few);
    expect(rows).toEqual(few);
    expect([arePacked(rows), arePacked(await rowsOf(keys))]).toEqual([false, true]);
  });

  it('are refused when the packed row is no state', async () => {
    const broken = [{ ...PACKED, plain: Buffer.from('no state') }];
    await expect(keysOfRows('spec', broken)).rejects.toBeInstanceOf(UnsealableError);
  });
});

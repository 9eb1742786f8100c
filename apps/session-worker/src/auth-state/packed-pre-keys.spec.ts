import { UnsealableError } from '../encryption/sealing.js';
import { arePacked, keysOfRows, PACKED, PRE_KEY, REMOVED, rowsWithPacked } from './packed-pre-keys.js';
import { packText, stateText, type PlainKey } from './plain-state.js';

const preKey = (id: number, value = `pre-key ${id}`): PlainKey => ({
  type: PRE_KEY,
  id: `${id}`,
  plain: Buffer.from(value),
});
const session: PlainKey = { type: 'session', id: 'friend', plain: Buffer.from('ratchet') };
const many = Array.from({ length: 100 }, (_, index) => preKey(index + 1));
const keys = [session, ...many];

const rowsOf = async (given: readonly PlainKey[]): Promise<readonly PlainKey[]> =>
  rowsWithPacked(given, await packText(stateText({ creds: Buffer.from('{}'), keys: given })));

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

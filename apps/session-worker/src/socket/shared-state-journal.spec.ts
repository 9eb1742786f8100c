import type { LTHashState, SignalDataSet } from '@whiskeysockets/baileys';
import { jest } from '@jest/globals';
import { SharedStateJournal, UNCONFIRMED } from './shared-state-journal.js';

const at = (version: number): LTHashState => ({ version, hash: Buffer.alloc(0), indexValueMap: {} });
const NAME = 'regular_low';
const VERSION = 'app-state-sync-version';

/** Rows as the database holds them, and a journal of the socket that writes them. */
function setup() {
  const rows = new Map<string, unknown>();
  const writes: SignalDataSet[] = [];
  const failures: Error[] = [];
  const auth = {
    keys: {
      get: (type: string, ids: string[]) =>
        Promise.resolve(
          Object.fromEntries(ids.flatMap((id) => (rows.has(`${type} ${id}`) ? [[id, rows.get(`${type} ${id}`)]] : []))),
        ),
      set: (data: SignalDataSet) => {
        const failure = failures.shift();
        if (failure) return Promise.reject(failure);
        writes.push(data);
        for (const [type, values] of Object.entries(data))
          for (const [id, value] of Object.entries(values))
            if (value === null) rows.delete(`${type} ${id}`);
            else rows.set(`${type} ${id}`, value);
        return Promise.resolve();
      },
    },
    readAll: (type: string) =>
      Promise.resolve(
        new Map(
          [...rows].flatMap(([key, value]): [string, unknown][] =>
            key.startsWith(`${type} `) ? [[key.slice(type.length + 1), value]] : [],
          ),
        ),
      ),
  };
  const journal = new SharedStateJournal(auth as ConstructorParameters<typeof SharedStateJournal>[0]);
  const stored = { is: true };
  journal.follow(() => Promise.resolve(stored.is));
  const take = (version: number) => journal.keys.set({ [VERSION]: { [NAME]: at(version) } });
  const seen = async () => (await journal.keys.get(VERSION, [NAME]))[NAME]?.version;
  const row = () => (rows.get(`${VERSION} ${NAME}`) as LTHashState | undefined)?.version;
  /** The library has emitted what followed from the versions it wrote. */
  const emitted = async () => {
    jest.advanceTimersByTime(1_000);
    await journal.confirm();
  };
  return { journal, rows, writes, failures, stored, take, seen, row, emitted };
}

describe('SharedStateJournal', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('shows the library its newest version, and stores it when its changes are stored', async () => {
    const { take, seen, row, rows, emitted, journal } = setup();
    await take(7);
    expect([await seen(), row()]).toEqual([7, undefined]);
    expect(await journal.unconfirmed()).toEqual([NAME]);
    await emitted();
    expect([await seen(), row()]).toEqual([7, 7]);
    expect(rows.has(`${UNCONFIRMED} ${NAME}`)).toBe(false);
  });

  it('leaves the stored version where it is while changes are not emitted, or cannot be stored', async () => {
    const { journal, take, row, stored, emitted } = setup();
    await take(1);
    await emitted();
    await take(2);
    await journal.confirm();
    expect(row()).toBe(1);
    stored.is = false;
    await emitted();
    expect(row()).toBe(1);
    expect(await journal.unconfirmed()).toEqual([NAME]);
  });

  it('writes the note once for versions that follow each other, and confirms the newest alone', async () => {
    const { take, writes, row, emitted } = setup();
    await take(1);
    await take(2);
    expect(writes).toHaveLength(1);
    await emitted();
    expect(row()).toBe(2);
    await take(3);
    expect(writes).toHaveLength(3);
    expect(row()).toBe(2);
  });

  it('keeps a version unconfirmed that is taken while an earlier one is being confirmed', async () => {
    const { journal, take, rows, row, emitted } = setup();
    await take(1);
    jest.advanceTimersByTime(1_000);
    const confirmed = journal.confirm();
    await take(2);
    await confirmed;
    expect(rows.has(`${UNCONFIRMED} ${NAME}`)).toBe(true);
    expect(row() ?? 0).toBeLessThan(2);
    await emitted();
    expect(row()).toBe(2);
  });

  it('shows no version whose note could not be written: the library takes it anew', async () => {
    const { take, seen, failures, emitted, row } = setup();
    await take(1);
    await emitted();
    failures.push(new Error('fenced'));
    await expect(take(2)).rejects.toThrow('fenced');
    expect(await seen()).toBe(1);
    await emitted();
    expect(row()).toBe(1);
  });

  it('passes everything else on', async () => {
    const { journal, rows } = setup();
    await journal.keys.set({ session: { 'a.0': new Uint8Array([1]) } });
    expect(rows.has('session a.0')).toBe(true);
    expect(await journal.keys.get('session', ['a.0'])).toEqual({ 'a.0': new Uint8Array([1]) });
  });
});

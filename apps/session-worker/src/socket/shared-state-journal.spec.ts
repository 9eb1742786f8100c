import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import type { LTHashState, SignalDataSet } from '@whiskeysockets/baileys';
import { deferred } from './deferred.js';
import { OWN_PATCHES, SharedStateJournal, UNCONFIRMED } from './shared-state-journal.js';

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
  const stored: { is: boolean | Promise<boolean> } = { is: true };
  /** An own change, whose end the test decides. */
  const own = deferred<void>();
  const socket: Record<string, () => Promise<void>> = {};
  for (const name of OWN_PATCHES) socket[name] = () => own.promise;
  const library: unknown = socket;
  journal.follow(library as Parameters<SharedStateJournal['follow']>[0], async () => stored.is);
  const take = (version: number) => journal.keys.set({ [VERSION]: { [NAME]: at(version) } });
  const seen = async () => (await journal.keys.get(VERSION, [NAME]))[NAME]?.version;
  const row = () => (rows.get(`${VERSION} ${NAME}`) as LTHashState | undefined)?.version;
  /** The library has emitted what followed from the versions it wrote. */
  const emitted = async () => {
    await turn();
    await turn();
    await journal.confirm();
  };
  return { journal, rows, writes, failures, stored, own, socket, take, seen, row, emitted };
}

describe('SharedStateJournal', () => {
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
    const { journal, take, rows, row, stored, emitted } = setup();
    const storing = deferred<boolean>();
    stored.is = storing.promise;
    await take(1);
    await turn();
    await turn();
    const confirmed = journal.confirm();
    await take(2);
    stored.is = true;
    storing.resolve(true);
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

  it.each(OWN_PATCHES)(
    'leaves a version unconfirmed until the own change that made it (%s) has ended',
    async (name) => {
      const { journal, take, row, rows, socket, own, emitted } = setup();
      const ended = socket[name]?.();
      await take(1);
      await emitted();
      expect([row(), rows.has(`${UNCONFIRMED} ${NAME}`)]).toEqual([undefined, true]);
      own.resolve();
      await ended;
      await emitted();
      expect([row(), await journal.unconfirmed()]).toEqual([1, []]);
    },
  );

  it('follows every function of the library that ends in an own change', async () => {
    const library = createRequire(import.meta.url).resolve('@whiskeysockets/baileys');
    const source = await readFile(new URL('Socket/chats.js', `file://${library}`), 'utf8');
    const functions = source.matchAll(/const (\w+) = (?:async )?\([^)]*\) => \{\s+(?:return|await) chatModify\(/g);
    expect(['appPatch', 'chatModify', ...[...functions].map(([, name]) => name)].sort()).toEqual(
      [...OWN_PATCHES].sort(),
    );
  });

  it('passes everything else on', async () => {
    const { journal, rows } = setup();
    await journal.keys.set({ session: { 'a.0': new Uint8Array([1]) } });
    expect(rows.has('session a.0')).toBe(true);
    expect(await journal.keys.get('session', ['a.0'])).toEqual({ 'a.0': new Uint8Array([1]) });
  });
});

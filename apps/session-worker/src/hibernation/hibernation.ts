/**
 * Moves a session's whole state into the object storage when it falls asleep, and back when it wakes.
 *
 * Guarantees:
 * - The rows are deleted only after the object was written, read back, opened and compared, in the same fenced transaction
 *   that records the object with the channel. So at any moment the state is complete in one of the two places.
 * - An object that a channel's record names is never overwritten with another state: its key has the generation and the epoch.
 *   Only the wrapping of its data key is replaced, and only if the object has not changed since it was read.
 * - The last two generations are kept. If the newest is missing or does not open, the one before is restored; if none
 *   opens, nothing is changed. Rows that exist are always newer than any object.
 * - A snapshot that came back with a restored database (`restored`, set by infra/postgres/after-restore.sql) may be older than
 *   the session's last use. Keys of conversations in it are left out: used twice, they would make messages unreadable.
 *
 * Object storage or PostgreSQL away: falling asleep and waking fail and are retried. Redis is not used.
 */
import { buffer } from 'node:stream/consumers';
import type { LogOf } from '@dormouse/bootstrap';
import {
  fallAsleep,
  forgetSleep,
  lockSnapshots,
  readSnapshots,
  setSnapshots,
  setWake,
} from '@dormouse/channel-directory';
import { FencedError, fencedTransaction, type RegionalDatabase } from '@dormouse/database';
import { isObjectFailure, type ObjectStorage } from '@dormouse/object-storage';
import { z } from 'zod';
import { credsPlace, keyPlace, type OpenedCredentials } from '../auth-state/auth-state.js';
import { arePacked, keysOfRows, PACKED, rowsWithPacked } from '../auth-state/packed-pre-keys.js';
import { stateText, type PlainState } from '../auth-state/plain-state.js';
import type { Ownership } from '../shards/ownership.js';
import { dropState, readState, restoreState, type StateRows } from '../auth-state/state-rows.js';
import { openDataKey, type MasterKeys } from '../encryption/data-keys.js';
import { open, seal, UnsealableError } from '../encryption/sealing.js';
import {
  openSnapshot,
  openSnapshotText,
  rewrapSnapshot,
  sealSnapshot,
  type OpenedSnapshot,
  type SnapshotName,
} from './snapshot-format.js';

/** Timeout of one read from the object storage. */
const READ_TIMEOUT_MS = 8_000;
/** Timeout of one write to the object storage. */
const WRITE_TIMEOUT_MS = 15_000;
/** Keys of conversations: each side has its own copy that moves with every message. New ones are agreed on where they are missing. */
const MOVING_KEYS = ['session', 'sender-key', 'sender-key-memory'];
/** How many generations are kept. */
const KEPT_GENERATIONS = 2;
/** After how many generations objects are searched for that no record names. */
const SEARCH_EVERY = 8;

const entryShape = z.object({
  generation: z.int(),
  epoch: z.string(),
  bytes: z.int(),
  sealedAtMs: z.int(),
  /** The master key that wraps its data key. */
  masterKeyId: z.string(),
  /** It was needed and was missing or did not open. */
  damaged: z.literal(true).optional(),
  /** The database was restored after it was sealed: there may have been newer keys. */
  restored: z.literal(true).optional(),
});
type Entry = z.output<typeof entryShape>;

export interface HibernationOptions {
  readonly database: RegionalDatabase;
  readonly storage: ObjectStorage;
  readonly masterKeys: MasterKeys;
  /** Whether a woken session keeps its pre-keys in one row, which workers of the last release cannot read. */
  readonly packsPreKeys: boolean;
  readonly log: LogOf<'warn' | 'error'>;
  /** Called when a snapshot that was needed is missing or does not open. */
  readonly onDamaged?: () => void;
  readonly now?: () => number;
}

export class Hibernation {
  private readonly now: () => number;

  constructor(private readonly options: HibernationOptions) {
    this.now = options.now ?? Date.now;
  }

  /**
   * Moves the state from the rows into an object. The caller guarantees that nothing writes the rows any more.
   * @param wakeAtMs time of the scheduled wake, in epoch milliseconds
   * @returns size of the object in bytes
   * @throws when it fails; the rows are unchanged then
   */
  async seal(owner: Ownership, channelId: string, wakeAtMs: number): Promise<number> {
    const { storage, masterKeys } = this.options;
    const [rows, before] = await Promise.all([
      readState(this.options.database.pool, channelId),
      this.entries(channelId),
    ]);
    if (!rows) throw new Error(`there is no state of ${channelId} to put to sleep`);
    const wrapped = { masterKeyId: rows.masterKeyId, wrappedKey: rows.wrappedKey };
    const dataKey = openDataKey(masterKeys, channelId, wrapped);
    const text = stateText(await unsealed(channelId, dataKey, rows));
    const generation = Math.max(0, ...before.map((entry) => entry.generation)) + 1;
    const name: SnapshotName = { channelId, generation, epoch: owner.fence.epoch.toString() };
    const bytes = await sealSnapshot(name, { dataKey, wrapped }, text);
    await this.write(name, bytes).catch(async (error: unknown) => {
      if (!isObjectFailure(error, 'conflict')) throw error;
      // An earlier write of ours: its response was lost, or the state changed after it. No record names it, since there are rows.
      if (await this.holds(name, text)) return;
      await storage.delete([keyOf(name)]);
      await this.write(name, bytes);
    });
    await this.verify(name, text);
    const { epoch } = name;
    const { masterKeyId } = wrapped;
    const entry: Entry = { generation, epoch, bytes: bytes.length, sealedAtMs: this.now(), masterKeyId };
    const kept = [entry, ...before.filter(({ damaged }) => !damaged)].slice(0, KEPT_GENERATIONS);
    if (!owner.isHeld()) throw new FencedError(owner.fence);
    await this.dropRows(owner, channelId, { rows, kept, wakeAtMs });
    await this.deleteOlder(entry, { channelId, before, kept });
    return bytes.length;
  }

  /**
   * Moves the state from the newest object that opens back into rows. The caller has found no state there; a row that a late
   * write left is newer than the object and stays.
   * @returns the credentials; undefined when the channel has no snapshot
   * @throws {UnsealableError} when it has snapshots and none opens; nothing is changed then
   * @throws {ObjectStorageError} 'away'
   * @throws {Error} when there is a state after all; it is unchanged
   */
  async restore(owner: Ownership, channelId: string): Promise<OpenedCredentials | undefined> {
    const { log, onDamaged } = this.options;
    const entries = await this.entries(channelId);
    const damaged: Entry[] = [];
    for (const entry of entries) {
      const name = { channelId, generation: entry.generation, epoch: entry.epoch };
      const opened = await this.read(name).catch((error: unknown) => {
        if (error instanceof UnsealableError || isObjectFailure(error, 'missing')) return undefined;
        throw error;
      });
      if (opened) {
        const fresh = entry.restored ? withoutMovingKeys(opened) : opened;
        const restored = await this.writeRows(owner, channelId, fresh);
        if (damaged.length > 0) await this.markDamaged(owner, channelId, damaged);
        return restored;
      }
      damaged.push(entry);
      onDamaged?.();
      log.error({ channelId, generation: entry.generation }, 'a snapshot is missing or does not open');
    }
    if (entries.length === 0) return undefined;
    log.error({ channelId }, 'no snapshot of the session opens: the channel must be linked again');
    throw new UnsealableError(`snapshots of ${channelId}`);
  }

  /** Sets the time of the next scheduled wake of a sleeping session. */
  async postpone({ fence }: Ownership, channelId: string, wakeAtMs: number): Promise<void> {
    await fencedTransaction(this.options.database, fence, async (connection) => {
      await setWake(connection, channelId, wakeAtMs);
    });
  }

  /**
   * Deletes the snapshots of a session that has ended. Objects that cannot be deleted now are deleted when the channel next
   * falls asleep or ends.
   */
  async forget({ fence }: Ownership, channelId: string): Promise<void> {
    if ((await this.entries(channelId)).length === 0) return;
    await this.deleteOthers(channelId, []);
    await fencedTransaction(this.options.database, fence, async (connection) => {
      await forgetSleep(connection, channelId);
    });
  }

  /**
   * Wraps the keys of all snapshots of a channel by the current master key, without waking it.
   * @returns how many keys were wrapped
   * @throws {UnsealableError} when one does not open; {ObjectStorageError} when one is missing or has changed meanwhile
   */
  async rewrap({ fence }: Ownership, channelId: string): Promise<number> {
    const { masterKeys, database } = this.options;
    const isDue = ({ damaged, masterKeyId }: Entry): boolean => !damaged && masterKeyId !== masterKeys.currentId;
    const due = (await this.entries(channelId)).filter(isDue);
    for (const { generation, epoch } of due) await this.rewrapObject({ channelId, generation, epoch });
    if (due.length === 0) return 0;
    const keys = new Set(due.map(({ generation, epoch }) => keyOf({ channelId, generation, epoch })));
    await fencedTransaction(database, fence, async (connection) => {
      // The channel may have fallen asleep meanwhile, which adds a snapshot.
      const snapshots = z.array(entryShape).parse((await lockSnapshots(connection, channelId)) ?? []);
      const wrapped = snapshots.map((entry): Entry =>
        keys.has(keyOf({ channelId, ...entry })) ? { ...entry, masterKeyId: masterKeys.currentId } : entry,
      );
      await setSnapshots(connection, channelId, wrapped);
    });
    return due.length;
  }

  private async rewrapObject(name: SnapshotName): Promise<void> {
    const { storage, masterKeys } = this.options;
    const found = await storage.get(keyOf(name), { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    const wrapped = rewrapSnapshot(masterKeys, name, await buffer(found.stream));
    if (!wrapped) return; // an earlier pass wrapped it and failed to record that
    const text = await openSnapshotText(masterKeys, name, wrapped); // never replace an object by one that does not open
    const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
    await storage.put(keyOf(name), wrapped, { ifMatch: found.etag, signal });
    await this.verify(name, text);
  }

  private async write(name: SnapshotName, bytes: Buffer): Promise<void> {
    const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
    await this.options.storage.put(keyOf(name), bytes, { ifAbsent: true, signal });
  }

  private async verify(name: SnapshotName, text: Buffer): Promise<void> {
    if (!(await this.holds(name, text)))
      throw new Error(`snapshot ${name.generation} of ${name.channelId} came back different`);
  }

  /** Is the stored snapshot one of this state? */
  private async holds(name: SnapshotName, text: Buffer): Promise<boolean> {
    return (await openSnapshotText(this.options.masterKeys, name, await this.readObject(name))).equals(text);
  }

  private async read(name: SnapshotName): Promise<OpenedSnapshot> {
    return openSnapshot(this.options.masterKeys, name, await this.readObject(name));
  }

  private async readObject(name: SnapshotName): Promise<Buffer> {
    const found = await this.options.storage.get(keyOf(name), { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    return buffer(found.stream);
  }

  private async entries(channelId: string): Promise<Entry[]> {
    return z.array(entryShape).parse((await readSnapshots(this.options.database.pool, channelId)) ?? []);
  }

  /** Deletes the rows if they are exactly those that were sealed. */
  private async dropRows(
    owner: Ownership,
    channelId: string,
    { rows, kept, wakeAtMs }: { rows: StateRows; kept: Entry[]; wakeAtMs: number },
  ): Promise<void> {
    await fencedTransaction(this.options.database, owner.fence, async (connection) => {
      if (!(await dropState(connection, channelId, rows))) {
        throw new Error(`the state of ${channelId} changed while it was put to sleep`);
      }
      await fallAsleep(connection, channelId, { snapshots: kept, wakeAtMs });
    });
  }

  private async writeRows(
    { fence }: Ownership,
    channelId: string,
    { dataKey, wrapped, packed, state }: OpenedSnapshot,
  ): Promise<OpenedCredentials> {
    const plain = this.options.packsPreKeys ? await rowsWithPacked(state, packed) : state.keys;
    const rows: StateRows = {
      creds: seal(dataKey, credsPlace(channelId), state.creds),
      keys: plain.map(({ type, id, plain: value }) => ({
        type,
        id,
        sealed: seal(dataKey, keyPlace(channelId, type, id), value),
      })),
      ...wrapped,
    };
    const restored = await restoreState(this.options.database, fence, channelId, rows);
    if (!restored) throw new Error(`the state of ${channelId} has rows already`);
    const creds = restored.creds.equals(rows.creds)
      ? state.creds
      : open(dataKey, credsPlace(channelId), restored.creds);
    const opened = { dataKey, creds, packed: arePacked(plain) };
    return restored.isExact ? { ...opened, keys: state.keys } : opened;
  }

  /** If this is not stored, the next wake finds them damaged again. */
  private async markDamaged({ fence }: Ownership, channelId: string, damaged: readonly Entry[]): Promise<void> {
    const generations = new Set(damaged.map(({ generation }) => generation));
    await fencedTransaction(this.options.database, fence, async (connection) => {
      const stored = z.array(entryShape).parse((await lockSnapshots(connection, channelId)) ?? []);
      const marked = stored.map((one): Entry => (generations.has(one.generation) ? { ...one, damaged: true } : one));
      await setSnapshots(connection, channelId, marked);
    });
  }

  /**
   * Deletes the generations that are not kept. Others that may lie there are searched for now and then: an owner that lost the
   * shard before it recorded its snapshot leaves one, and so does a deletion that failed.
   */
  private async deleteOlder(
    { epoch, generation }: Entry,
    { channelId, before, kept }: { channelId: string; before: readonly Entry[]; kept: readonly Entry[] },
  ): Promise<void> {
    if (before[0]?.epoch !== epoch || generation % SEARCH_EVERY === 0) return this.deleteOthers(channelId, kept);
    const older = before.filter((entry) => !kept.includes(entry));
    await this.deleteObjects(
      older.map((entry) => keyOf({ channelId, ...entry })),
      channelId,
    );
  }

  /** Deletes the other objects: older generations, and those of owners that lost the shard before they recorded them. */
  private async deleteOthers(channelId: string, kept: readonly Entry[]): Promise<void> {
    const keep = new Set(kept.map((entry) => keyOf({ channelId, ...entry })));
    const others: string[] = [];
    try {
      const objects = this.options.storage.list(`sessions/${channelId}/`);
      for await (const { key } of objects) if (!keep.has(key)) others.push(key);
    } catch {
      this.notDeleted(channelId);
    }
    await this.deleteObjects(others, channelId);
  }

  private async deleteObjects(keys: readonly string[], channelId: string): Promise<void> {
    if (keys.length > 0) await this.options.storage.delete(keys).catch(() => this.notDeleted(channelId));
  }

  private notDeleted(channelId: string): void {
    this.options.log.warn({ channelId }, 'old snapshots could not be deleted yet');
  }
}

/** The whole state that these rows hold. @throws {UnsealableError} */
async function unsealed(channelId: string, dataKey: Buffer, rows: StateRows): Promise<PlainState> {
  const keys = rows.keys.map(({ type, id, sealed }) => ({
    type,
    id,
    plain: open(dataKey, keyPlace(channelId, type, id), sealed),
  }));
  const place = keyPlace(channelId, PACKED.type, PACKED.id);
  return { creds: open(dataKey, credsPlace(channelId), rows.creds), keys: await keysOfRows(place, keys) };
}

function withoutMovingKeys({ state, ...opened }: OpenedSnapshot): OpenedSnapshot {
  return { ...opened, state: { ...state, keys: state.keys.filter(({ type }) => !MOVING_KEYS.includes(type)) } };
}

const keyOf = ({ channelId, generation, epoch }: SnapshotName): string =>
  `sessions/${channelId}/${String(generation).padStart(8, '0')}-${epoch}`;

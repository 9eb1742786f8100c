/**
 * The network library's authentication state over PostgreSQL.
 *
 * Guarantees: `keys.set` resolves only when its values are durable, so a message is acknowledged to the network after the
 * ratchet that decrypted it is stored. Credentials are written whole, the newest last; `durable` resolves when everything
 * set so far is stored (the socket holds its frames back until then, see
 * `outbound-frame-gate.ts`). Values are sealed; one that does not open is an error, never an absent key.
 * PostgreSQL away: writes are retried while the shard is certainly ours; then they fail and the session ends. Reads of keys
 * are retried as well, because the library treats a session that cannot be read as one that does not exist.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Coalescer } from '@dormouse/database';
import type { AuthRows, KeyWrite } from './auth-rows.js';
import { newDataKey, openDataKey, sealDataKey, type MasterKeys } from '../encryption/data-keys.js';
import type { Ownership } from '../shards/ownership.js';
import { KeyCache, type KeyValue } from './key-cache.js';
import type { KeyChanges, KeyFormat, KeyStore } from './key-format.js';
import { newestPreKeyId, PACKED, packedPreKeys, PRE_KEY, REMOVED } from './packed-pre-keys.js';
import type { PlainKey } from './plain-state.js';
import { whileHeld } from './while-held.js';
import { open, seal, UnsealableError } from '../encryption/sealing.js';

/** Longest pause of a transaction of the key store between its last read and its write. */
const LAST_WRITES_PAUSE_MS = 50;
const LAST_WRITES_WITHIN_MS = 2_000;

/** The type of keys under which decrypted messages are kept until they are stored (inbound-journal.ts). */
export const JOURNAL = 'inbound-journal';

/** A channel's credentials as they are serialized, with the key that seals them. */
export interface OpenedCredentials {
  readonly dataKey: Buffer;
  readonly creds: Buffer;
  /** Pre-keys are in a packed row. */
  readonly packed: boolean;
  /** All keys that are stored, if they were just written. */
  readonly keys?: readonly PlainKey[];
}

/** Loads and creates the authentication states of channels. */
export class AuthStates<Creds extends object, Keys extends object> {
  constructor(
    private readonly rows: AuthRows,
    private readonly masterKeys: MasterKeys,
    private readonly format: KeyFormat<Creds, Keys>,
  ) {}

  /**
   * Loads the stored state.
   * @returns undefined when there is none, or one without its data key
   * @throws {UnsealableError} when it does not open; the rows are left as they are
   */
  async load(owner: Ownership, channelId: string): Promise<AuthState<Creds, Keys> | undefined> {
    const row = await this.rows.readCreds(channelId);
    if (!row?.wrapped) return undefined; // without a data key they came after the state had moved: see `restoreState`
    const dataKey = openDataKey(this.masterKeys, channelId, row.wrapped);
    const creds = open(dataKey, credsPlace(channelId), row.sealed);
    return this.open(owner, channelId, { dataKey, creds, packed: row.packed });
  }

  /** The state whose rows were just restored, without reading them. */
  open(owner: Ownership, channelId: string, opened: OpenedCredentials): AuthState<Creds, Keys> {
    const { dataKey, creds, packed, keys } = opened;
    return this.stateOf({ owner, channelId, dataKey, packed, creds, keys }, this.format.parseCredentials(creds));
  }

  /** Creates a state for pairing and wipes the former one. Its credentials are stored after the scan only. */
  async create(owner: Ownership, channelId: string): Promise<AuthState<Creds, Keys>> {
    const { dataKey, wrapped } = newDataKey(this.masterKeys, channelId);
    await whileHeld(
      () => owner.isHeld(),
      async () => {
        await this.rows.wipe(owner.fence, channelId);
        await this.rows.addDataKey(owner.fence, channelId, wrapped);
      },
    );
    return this.stateOf({ owner, channelId, dataKey, packed: false }, this.format.newCredentials());
  }

  /**
   * Wraps the data key of a channel that is awake by the current master key, without effect on its session.
   * @returns false when it is wrapped by that key already, or there is none
   * @throws {UnsealableError} when it does not open
   */
  async rewrap({ fence }: Ownership, channelId: string): Promise<boolean> {
    const before = await this.rows.readDataKey(channelId);
    if (!before || before.masterKeyId === this.masterKeys.currentId) return false;
    const after = sealDataKey(this.masterKeys, channelId, openDataKey(this.masterKeys, channelId, before));
    await this.rows.rewrapDataKey(fence, channelId, before, after);
    return true;
  }

  /** Removes everything of the session. */
  async wipe(owner: Ownership, channelId: string): Promise<void> {
    await whileHeld(
      () => owner.isHeld(),
      () => this.rows.wipe(owner.fence, channelId),
    );
  }

  private stateOf(of: Omit<AuthStateOptions<Creds, Keys>, 'rows' | 'format'>, creds: Creds): AuthState<Creds, Keys> {
    return new AuthState({ rows: this.rows, format: this.format, ...of }, creds);
  }
}

interface AuthStateOptions<Creds extends object, Keys extends object> {
  readonly rows: AuthRows;
  readonly format: KeyFormat<Creds, Keys>;
  readonly owner: Ownership;
  readonly channelId: string;
  readonly dataKey: Buffer;
  readonly packed: boolean;
  /** The stored credentials, serialized. */
  readonly creds?: Buffer;
  /** All keys that are stored, if they are known. */
  readonly keys?: readonly PlainKey[] | undefined;
}

export class AuthState<Creds extends object, Keys extends object> {
  readonly keys: KeyStore<Keys>;
  /** Saves of the credentials: a write holds every change until it begins. */
  private readonly saves = new Coalescer<void, void>({ flush: () => this.writeCreds(), afterThisTurn: true });
  private readonly keyWrites = new Set<Promise<void>>();
  private readonly cache = new KeyCache();
  private lastUseMs = 0;
  private retired = false;

  private readonly rows: AuthRows;
  private readonly format: KeyFormat<Creds, Keys>;
  private readonly owner: Ownership;
  private readonly channelId: string;
  private readonly dataKey: Buffer;
  private readonly packed: boolean;
  /** The newest pre-key of the packed row; undefined while that is not known. */
  private newestPacked: number | undefined;
  /** Digest of the credentials that are stored; undefined while that is not certain. */
  private storedCreds: string | undefined;

  constructor(
    { rows, format, owner, channelId, dataKey, packed, creds: stored, keys }: AuthStateOptions<Creds, Keys>,
    readonly creds: Creds,
  ) {
    this.rows = rows;
    this.format = format;
    this.owner = owner;
    this.channelId = channelId;
    this.dataKey = dataKey;
    this.packed = packed;
    this.storedCreds = stored && digestOf(stored);
    if (keys) {
      this.cache.fill(keys);
      this.newestPacked = newestPreKeyId(keys);
    }
    this.keys = {
      get: (type, ids) => this.getKeys(type, ids),
      set: (data) => this.setKeys(data),
    };
  }

  /** All values of a type, by id. */
  async readAll(type: string): Promise<Map<string, unknown>> {
    const rows = await this.rows.readAllKeys(this.channelId, type);
    const values = [...rows].map(([id, sealed]): [string, unknown] => [
      id,
      this.format.parseOther(open(this.dataKey, keyPlace(this.channelId, type, id), sealed)),
    ]);
    return new Map(values);
  }

  /** Writes the credentials as a whole. Resolves when what they hold now is durable. */
  async saveCreds(): Promise<void> {
    this.assertMayWrite();
    await this.saves.add();
  }

  /**
   * For a socket that has ended: waits for the writes of transactions that run, then refuses further ones. Resolves when no
   * write is under way, however long that takes while PostgreSQL is away: a later one would overwrite what the next socket
   * has stored, or stay behind when the state moves into a snapshot. Each ends, at the latest with the lease.
   * The callers of failed writes handle their errors.
   */
  async retire(): Promise<void> {
    const untilMs = performance.now() + LAST_WRITES_WITHIN_MS;
    do {
      await this.writesEnd();
      await delay(LAST_WRITES_PAUSE_MS);
    } while (this.inUse() && performance.now() < untilMs);
    this.retired = true;
    await this.writesEnd();
  }

  private async writesEnd(): Promise<void> {
    await Promise.allSettled([this.saves.settled(), ...this.keyWrites]);
  }

  /** Whether a write runs, or a transaction of the library may be between its reads and its write. */
  private inUse(): boolean {
    return this.keyWrites.size > 0 || this.saves.isBusy || performance.now() - this.lastUseMs < LAST_WRITES_PAUSE_MS;
  }

  private async getKeys<T extends keyof Keys>(type: T, ids: string[]): Promise<{ [id: string]: Keys[T] }> {
    this.lastUseMs = performance.now();
    const found: { [id: string]: Keys[T] } = {};
    for (const [id, plain] of await this.plainKeys(String(type), ids)) {
      if (plain !== null) found[id] = this.format.parseKey(type, plain);
    }
    return found;
  }

  /** The stored form of each key, null for one that is not stored. */
  private async plainKeys(type: string, ids: string[]): Promise<Map<string, KeyValue>> {
    const plain = new Map(ids.map((id) => [id, this.cache.find(type, id)]));
    const missing = ids.filter((id) => plain.get(id) === undefined);
    const remember = this.cache.beginRead();
    const read = () => this.rows.readKeys(this.channelId, type, missing);
    const rows = missing.length === 0 ? NO_ROWS : await whileHeld(() => this.usable(), read);
    for (const id of missing) {
      const sealed = rows.get(id);
      const value = sealed ? open(this.dataKey, keyPlace(this.channelId, type, id), sealed) : null;
      remember(type, id, value);
      plain.set(id, value);
    }
    if (type === PRE_KEY && this.packed) await this.addPacked(plain);
    // Nothing but a removed pre-key is stored as an empty value.
    return new Map([...plain].map(([id, value]) => [id, value === undefined || value?.length === 0 ? null : value]));
  }

  /** Adds the pre-keys that have no row of their own. They are not cached: one is needed for a first message of somebody alone. */
  private async addPacked(plain: Map<string, KeyValue | undefined>): Promise<void> {
    const missing = new Set([...plain].filter(([, value]) => value === null).map(([id]) => id));
    if (missing.size === 0) return;
    for (const key of await this.readPacked(() => this.usable())) {
      if (missing.has(key.id)) plain.set(key.id, key.plain);
    }
  }

  private async readPacked(mayRead: () => boolean): Promise<readonly PlainKey[]> {
    const { type, id: packedId } = PACKED;
    const rows = await whileHeld(mayRead, () => this.rows.readKeys(this.channelId, type, [packedId]));
    const sealed = rows.get(packedId);
    const place = keyPlace(this.channelId, type, packedId);
    if (!sealed) throw new UnsealableError(place); // it is never removed while there are credentials
    const preKeys = await packedPreKeys(place, open(this.dataKey, place, sealed));
    this.newestPacked = newestPreKeyId(preKeys);
    return preKeys;
  }

  private async setKeys(data: KeyChanges<Keys>): Promise<void> {
    this.assertMayWrite();
    const write = this.storeKeys(data);
    this.keyWrites.add(write);
    try {
      await write;
    } finally {
      this.keyWrites.delete(write);
    }
  }

  private async storeKeys(data: KeyChanges<Keys>): Promise<void> {
    if (this.packed && this.newestPacked === undefined && removesPreKeys(data)) {
      await this.readPacked(() => this.owner.isHeld());
    }
    const writes: (KeyWrite & { value: KeyValue })[] = [];
    for (const [type, values = {}] of Object.entries<Record<string, unknown> | undefined>(data)) {
      for (const [id, given] of Object.entries(values)) {
        const value = given === null || given === undefined ? null : this.format.serializeKey(type, given);
        const stored = value ?? (type === PRE_KEY && this.mayBePacked(id) ? REMOVED : null);
        const sealed = stored && seal(this.dataKey, keyPlace(this.channelId, type, id), stored);
        writes.push({ type, id, sealed, value });
      }
    }
    if (writes.length === 0) return;
    const ended = this.cache.beginWrite(writes);
    try {
      await this.write(() => this.rows.writeKeys(this.owner.fence, this.channelId, writes));
      ended(true);
    } catch (error) {
      ended(false);
      throw error;
    }
  }

  /** Whether a pre-key can be in the packed row, so that its removal must be marked. Later ones than that row simply go. */
  private mayBePacked(id: string): boolean {
    return this.packed && !(Number(id) > (this.newestPacked ?? Infinity));
  }

  /** The library reports credentials that have not changed at each connect: they cost nothing. */
  private async writeCreds(): Promise<void> {
    const plain = this.format.serializeCredentials(this.creds);
    const digest = digestOf(plain);
    if (digest === this.storedCreds) return;
    const sealed = seal(this.dataKey, credsPlace(this.channelId), plain);
    this.storedCreds = undefined;
    await this.write(() => this.rows.writeCreds(this.owner.fence, this.channelId, sealed));
    this.storedCreds = digest;
  }

  private usable(): boolean {
    return !this.retired && this.owner.isHeld();
  }

  private assertMayWrite(): void {
    if (this.retired) throw new Error('the socket of this state has ended');
  }

  /** Of one that has begun, `retire` awaits the end. */
  private write(write: () => Promise<void>): Promise<void> {
    this.lastUseMs = performance.now();
    return whileHeld(() => this.owner.isHeld(), write);
  }
}

const digestOf = (serialized: Buffer): string => hash('sha256', serialized, 'base64');

const removesPreKeys = (data: object): boolean =>
  Object.entries(data).some(
    ([type, values]: [string, object | undefined]) =>
      type === PRE_KEY && Object.values(values ?? {}).some((value) => value === null || value === undefined),
  );

const NO_ROWS: ReadonlyMap<string, Buffer> = new Map();

/** The place under which credentials are sealed. */
export const credsPlace = (channelId: string): string => `credentials of ${channelId}`;
/** The place under which a key is sealed. */
export const keyPlace = (channelId: string, type: string, id: string): string => `key ${type} ${id} of ${channelId}`;

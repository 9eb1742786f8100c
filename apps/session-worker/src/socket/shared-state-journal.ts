/**
 * Which changes of the state that the phone shares with its devices (chats that are archived, pinned, muted, read, deleted
 * or cleared there, names of contacts) the library has accepted and the product has not stored yet.
 *
 * Why: the library stores how far it has come in a collection, and emits what changed only then. A process that is
 * killed in between never sees those changes again: the network sends what comes after the version that is requested.
 *
 * What it guarantees: the stored version of a collection is one up to which every change was stored. The library's own
 * newest version is kept in memory until then; what is written in the place of it, in the library's transaction, is that
 * the collection is unconfirmed. The channel's next socket, in this worker or another one, requests from the network all that
 * followed the stored version of such collections. A change that comes again writes and notifies nothing.
 * PostgreSQL away: the library's transaction waits, as for any key; versions that cannot be confirmed are requested from again.
 */
import { setImmediate as turn } from 'node:timers/promises';
import {
  ALL_WA_PATCH_NAMES,
  type LTHashState,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { NetworkAuthState } from './key-format.js';

export type CollectionName = (typeof ALL_WA_PATCH_NAMES)[number];

/** The type of keys that name collections whose stored version is behind. */
export const UNCONFIRMED = 'app-state-unconfirmed';
const VERSION = 'app-state-sync-version';

/**
 * Functions of the library that change the shared state themselves (chats.js of 7.0.0-rc14: all of them end in appPatch).
 * They write the new version (:741) before they decode their own patch, with reads of keys in between, and emit what it
 * changes (:745-751); they resolve after that.
 */
export const OWN_PATCHES = [
  'appPatch',
  'chatModify',
  'updateProfileName',
  'updateDisableLinkPreviewsPrivacy',
  'star',
  'addOrEditContact',
  'removeContact',
  'addLabel',
  'addChatLabel',
  'removeChatLabel',
  'addMessageLabel',
  'removeMessageLabel',
  'addOrEditQuickReply',
  'removeQuickReply',
] as const satisfies readonly (keyof WASocket)[];

interface Newest {
  readonly state: LTHashState;
  /** Its changes have been emitted. */
  emitted: boolean;
}

/** Of one socket generation. */
export class SharedStateJournal {
  /** The key store for the library. */
  readonly keys: SignalKeyStore;
  /** Versions that are newer than the stored ones. */
  private readonly newest = new Map<string, Newest>();
  /** Collections that are stored as unconfirmed. */
  private readonly marked = new Set<string>();
  private confirming: Promise<void> = Promise.resolve();
  /** Own changes of the shared state that have not ended. */
  private readonly ownPatches = new Set<Promise<unknown>>();
  private stored: () => Promise<boolean> = () => Promise.resolve(false);

  constructor(private readonly auth: Pick<NetworkAuthState, 'keys' | 'readAll'>) {
    this.keys = { get: (type, ids) => this.get(type, ids), set: (data) => this.set(data) };
  }

  /**
   * Follows own changes of the shared state to their ends.
   * @param stored resolves when everything that was emitted so far is stored; false when something could not be
   */
  follow(socket: Pick<WASocket, (typeof OWN_PATCHES)[number]>, stored: () => Promise<boolean>): void {
    this.stored = stored;
    for (const name of OWN_PATCHES) {
      const patch: (...args: never[]) => Promise<unknown> = socket[name];
      Reflect.set(socket, name, (...args: never[]) => this.followed(patch(...args)));
    }
  }

  private followed<T>(patch: Promise<T>): Promise<T> {
    this.ownPatches.add(patch);
    const ended = () => this.ownPatches.delete(patch);
    patch.then(ended, ended);
    return patch;
  }

  /** Collections whose changes earlier sockets did not store: the network is to be queried for what followed. */
  async unconfirmed(): Promise<CollectionName[]> {
    const left = await this.auth.readAll(UNCONFIRMED);
    const names = ALL_WA_PATCH_NAMES.filter((name) => left.has(name));
    names.forEach((name) => this.marked.add(name));
    return names;
  }

  /** Stores the versions whose changes are stored. Never rejects: what cannot be written is requested again. */
  confirm(): Promise<void> {
    // A newer owner, or a state that has ended: its next socket requests them.
    this.confirming = this.confirming.then(() => this.confirmReady()).catch(() => undefined);
    return this.confirming;
  }

  private async confirmReady(): Promise<void> {
    const ready = [...this.newest].filter(([, { emitted }]) => emitted);
    if (ready.length === 0 || !(await this.stored())) return;
    const unchanged = ready.filter(([name, each]) => this.newest.get(name) === each);
    if (unchanged.length === 0) return;
    const names = unchanged.map(([name]) => name);
    const versions = Object.fromEntries(unchanged.map(([name, { state }]) => [name, state]));
    names.forEach((name) => this.marked.delete(name));
    // One statement; writes of a channel keep their order.
    await this.auth.keys.set(withMarks({ [VERSION]: versions }, names, null));
    for (const [name, each] of unchanged) if (this.newest.get(name) === each) this.newest.delete(name);
  }

  private async get<T extends keyof SignalDataTypeMap>(
    type: T,
    ids: string[],
  ): Promise<{ [id: string]: SignalDataTypeMap[T] }> {
    const found = await this.auth.keys.get(type, ids);
    if (type !== VERSION) return found;
    for (const id of ids) {
      const newest = this.newest.get(id);
      if (newest) Object.assign(found, { [id]: newest.state });
    }
    return found;
  }

  private async set(data: SignalDataSet): Promise<void> {
    const { [VERSION]: versions, ...others } = data;
    const news = Object.entries(versions ?? {}).flatMap(([name, state]) => (state ? [[name, state] as const] : []));
    if (news.length === 0) return this.auth.keys.set(data);
    const unmarked = news.map(([name]) => name).filter((name) => !this.marked.has(name));
    const before = new Map(this.newest);
    const begun = news.map(([name, state]): Newest => {
      const each = { state, emitted: false };
      this.newest.set(name, each);
      this.marked.add(name);
      return each;
    });
    try {
      const write = withMarks(others, unmarked, true);
      if (Object.keys(write).length > 0) await this.auth.keys.set(write);
    } catch (error) {
      for (const [name] of news) this.restore(name, before.get(name));
      unmarked.forEach((name) => this.marked.delete(name));
      throw error;
    }
    void this.emission().then(() => {
      for (const each of begun) each.emitted = true;
      return this.confirm();
    });
  }

  /**
   * Resolves when the library has emitted the changes of the versions it has just written. After the transaction it does so
   * at once (chats.js:543-548 of 7.0.0-rc14; between the write and that there are promises alone, no turn of the event
   * loop: auth-utils.js, commitWithRetry and runExclusive), but for an own change, whose end is awaited. One that never
   * ends is never confirmed: the next socket requests it again.
   */
  private async emission(): Promise<void> {
    await Promise.allSettled(this.ownPatches);
    await turn();
  }

  private restore(name: string, before: Newest | undefined): void {
    if (before) this.newest.set(name, before);
    else this.newest.delete(name);
  }
}

/** In the form that the key store takes, which does not know the type. */
function withMarks(data: SignalDataSet, names: readonly string[], mark: true | null): SignalDataSet {
  const marks: { session?: never; [UNCONFIRMED]?: Record<string, true | null> } =
    names.length === 0 ? {} : { [UNCONFIRMED]: Object.fromEntries(names.map((name) => [name, mark])) };
  return { ...data, ...marks };
}

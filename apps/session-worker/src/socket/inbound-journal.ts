/**
 * What was decrypted and is not stored as a message yet.
 *
 * Why: the library commits the step of the ratchet that decrypted a message, acknowledges the message to the network,
 * and only then emits it. A crash in between would lose it: it cannot be decrypted again and is not sent again.
 *
 * What it guarantees: the decrypted content is written by the very statement that commits the ratchet (the library's key
 * transaction makes one `set` of everything set in it), and stays until the message has been delivered and stored.
 * The next socket of the channel, in this worker or another one, delivers what it finds here before it sends anything to
 * the network, in the order of arrival. Delivering again what is stored already does nothing: messages are stored
 * once by their id. If the network delivers a ciphertext again whose content is here, the content is taken from here.
 * What a phone sends to its own devices (history, keys of the shared state) the library works on after it has delivered
 * it; it stays until that is done and stored, and is worked on again by the next socket.
 * A notice of what can be seen once has nothing to decrypt: it is written before anything else is sent to the network.
 * A message in several parts of which only some were decrypted is left to the network, which delivers it again because
 * it was not answered.
 * PostgreSQL away: decrypting waits, as the ratchet does; entries that cannot be removed are delivered once more.
 */
import { createHash } from 'node:crypto';
import {
  cleanMessage,
  decryptMessageNode,
  DEFAULT_CONNECTION_CONFIG,
  unpadRandomMax16,
  WAMessageStubType,
  type BinaryNode,
  type SignalDataSet,
  type SocketConfig,
  type WASocket,
} from '@whiskeysockets/baileys';
import { JOURNAL } from '../auth-state/auth-state.js';
import type { NetworkAuthState } from './key-format.js';
import { isViewOnceNotice } from './patches/view-once-notices.js';

/** One decrypted part of a message. */
interface Entry {
  /** Order of arrival within the channel: epoch milliseconds, then a count. */
  readonly at: readonly [number, number];
  /** The stanza, its encrypted parts without content. */
  readonly stanza: BinaryNode;
  /** Which of its children this is, and how many of them are encrypted; of a notice, which has none, -1 and 0. */
  readonly child: number;
  readonly parts: number;
  /** As the ratchet gave it, padding included. */
  readonly plain: Uint8Array;
  /** It waited at the network while the session was away. */
  readonly waited?: true;
}

/** A message part that arrived and may be decrypted. */
interface Arrived {
  readonly node: BinaryNode;
  readonly child: number;
  readonly parts: number;
}

type SignalRepository = ReturnType<SocketConfig['makeSignalRepository']>;
type Decrypt = SignalRepository['decryptMessage'];
type DecryptGroup = SignalRepository['decryptGroupMessage'];

/** How long after the first of them was settled entries are removed, together. */
const REMOVE_AFTER_MS = 1_000;
/** How long an entry that could not be delivered is kept. */
const KEPT_FOR_MS = 7 * 86_400_000;

/** The journal of one socket generation. */
export class InboundJournal {
  private readonly arrived = new WeakMap<Uint8Array, Arrived>();
  /** What earlier sockets left, by ciphertext. */
  private left = new Map<string, Entry>();
  /** Messages that waited at the network while the session was away, until they are settled. */
  private readonly waitedIds = new Set<string>();
  /** Entries by message, to be removed when it is settled. */
  private readonly entries = new Map<string, Set<string>>();
  private readonly settledIds = new Set<string>();
  /** Messages of the own phone to its devices, which are settled when the library is done with them. */
  private readonly peerIds = new Set<string>();
  /** Those that are decrypted in the work that is under way. */
  private inHand = new Set<string>();
  private stored: () => Promise<boolean> = () => Promise.resolve(false);
  private timer: NodeJS.Timeout | undefined;
  private count = 0;

  constructor(
    private readonly auth: NetworkAuthState,
    private readonly now: () => number = Date.now,
  ) {}

  /** The library's signal repository, which stores what it decrypts. */
  readonly makeSignalRepository: SocketConfig['makeSignalRepository'] = (auth, logger, pnToLid) => {
    const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, pnToLid);
    const { keys } = auth;
    if (!('transaction' in keys)) throw new Error('the key store has no transactions');
    const decryptMessage: Decrypt = repository.decryptMessage.bind(repository);
    const decryptGroupMessage: DecryptGroup = repository.decryptGroupMessage.bind(repository);
    const journalled = (ciphertext: Uint8Array, lock: string, decrypt: () => Promise<Uint8Array>) => {
      const id = idOf(ciphertext);
      const known = this.left.get(id);
      if (known) {
        this.takeInHand(known.stanza);
        return Promise.resolve(known.plain);
      }
      const part = this.arrived.get(ciphertext);
      if (!part) return decrypt();
      return keys.transaction(async () => {
        const plain = await decrypt();
        this.takeInHand(part.node);
        await keys.set(this.write({ [id]: this.entryOf(id, part, plain) }));
        return plain;
      }, lock);
    };
    repository.decryptMessage = (what) => journalled(what.ciphertext, what.jid, () => decryptMessage(what));
    repository.decryptGroupMessage = (what) => journalled(what.msg, what.group, () => decryptGroupMessage(what));
    return repository;
  };

  /**
   * Notes which message every ciphertext belongs to, and keeps messages in the order they arrived. Before the library's
   * own listener receives them.
   *
   * The library handles live messages side by side: each waits for look-ups of its own before it is decrypted, so a
   * later one can overtake an earlier one, and any of them the backlog of the time away. Stanzas marked as offline wait
   * for each other in one queue, so every message is marked; all it changes is the order, and `append` for `notify`.
   * @param hold nothing is sent to the network before this write has ended well
   */
  watch({ ws }: Pick<WASocket, 'ws'>, hold: (write: Promise<void>) => void): void {
    ws.prependListener('CB:message', (node: BinaryNode) => {
      if (node.attrs['offline'] === undefined) node.attrs['offline'] = '0';
      else this.waitedIds.add(node.attrs['id'] ?? '');
      const children = Array.isArray(node.content) ? node.content : [];
      const parts = children.filter(({ tag }) => tag === 'enc').length;
      children.forEach(({ tag, content }, child) => {
        if (tag === 'enc' && content instanceof Uint8Array) this.arrived.set(content, { node, child, parts });
      });
      if (parts === 0 && isViewOnceNotice(node)) hold(this.writeNotice(node));
    });
  }

  /**
   * Follows the library's work on each message, one of which is worked on at a time (messages-recv.js of 7.0.0-rc14).
   * @param stored resolves when everything that was emitted so far is stored; false when something could not be
   */
  follow({ messageMutex }: Pick<WASocket, 'messageMutex'>, stored: () => Promise<boolean>): void {
    this.stored = stored;
    const run = messageMutex.mutex.bind(messageMutex);
    messageMutex.mutex = (work) =>
      run(async () => {
        this.inHand = new Set();
        const result = await work();
        this.workedOn([...this.inHand]);
        return result;
      });
  }

  /**
   * Delivers what earlier sockets left, as if it arrived now. Resolves when the listeners have received it.
   * @throws when it cannot be read; the socket must not go on then
   */
  async replay(socket: WASocket): Promise<void> {
    this.left = await this.read();
    const { me } = this.auth.creds;
    if (this.left.size === 0 || !me) return;
    for (const stanza of wholeMessages([...this.left.values()])) {
      const decoded = decryptMessageNode(stanza, me.id, me.lid ?? '', socket.signalRepository, socket.logger);
      await decoded.decrypt();
      const { fullMessage } = decoded;
      if (fullMessage.messageStubType === WAMessageStubType.CIPHERTEXT) continue;
      cleanMessage(fullMessage, me.id, me.lid ?? '');
      // Listeners receive it at once; what the library does with it besides may need the network.
      const worked = () => this.workedOn([fullMessage.key.id ?? '']);
      socket.upsertMessage(fullMessage, 'append').then(worked, () => undefined);
    }
    socket.ev.flush();
  }

  /** Did the network keep this message while the session was away? Known until it is settled. */
  hasWaited({ key }: { key: { id?: string | null } }): boolean {
    return this.waitedIds.has(key.id ?? '');
  }

  /** These messages are stored, or nothing is to be stored of them. */
  settled(messages: readonly { key: { id?: string | null } }[]): void {
    this.settle(messages.map(({ key }) => key.id ?? '').filter((id) => !this.peerIds.has(id)));
  }

  /** The library is done with these; what it emitted is to be stored first. */
  private workedOn(messageIds: readonly string[]): void {
    const peers = messageIds.filter((id) => this.peerIds.has(id));
    if (peers.length === 0) return;
    this.stored().then(
      (isStored) => {
        if (!isStored) return;
        peers.forEach((id) => this.peerIds.delete(id));
        this.settle(peers);
      },
      () => undefined,
    );
  }

  private settle(messageIds: readonly string[]): void {
    for (const messageId of messageIds) {
      this.entries.get(messageId)?.forEach((id) => this.settledIds.add(id));
      this.entries.delete(messageId);
      this.waitedIds.delete(messageId);
    }
    if (this.settledIds.size === 0) return;
    this.timer ??= setTimeout(() => void this.flush(), REMOVE_AFTER_MS).unref();
  }

  /** Removes what is settled. What cannot be removed now is delivered again, without effect. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ids = [...this.settledIds];
    if (ids.length === 0) return;
    this.settledIds.clear();
    ids.forEach((id) => this.left.delete(id));
    try {
      await this.auth.keys.set(this.write(Object.fromEntries(ids.map((id) => [id, null]))));
    } catch {
      // a newer owner or a retired state: its journal is not ours any more
    }
  }

  private async writeNotice(node: BinaryNode): Promise<void> {
    const { id, from, participant } = node.attrs;
    const name = idOf(Buffer.from(JSON.stringify([id, from, participant])));
    await this.auth.keys.set(
      this.write({ [name]: this.entryOf(name, { node, child: -1, parts: 0 }, new Uint8Array()) }),
    );
  }

  private async read(): Promise<Map<string, Entry>> {
    const kept = new Map<string, Entry>();
    const oldest = this.now() - KEPT_FOR_MS;
    for (const [id, value] of await this.auth.readAll(JOURNAL)) {
      const entry = value as Entry;
      this.note(entry.stanza, id);
      if (entry.waited) this.waitedIds.add(entry.stanza.attrs['id'] ?? '');
      if (entry.at[0] < oldest) this.settle([entry.stanza.attrs['id'] ?? '']);
      else kept.set(id, entry);
    }
    return kept;
  }

  private entryOf(id: string, { node, child, parts }: Arrived, plain: Uint8Array): Entry {
    const content = Array.isArray(node.content)
      ? node.content.map((each) => (each.tag === 'enc' ? { tag: each.tag, attrs: each.attrs } : each))
      : [];
    const stanza: BinaryNode = { tag: node.tag, attrs: node.attrs, content };
    this.note(stanza, id);
    const waited = this.waitedIds.has(node.attrs['id'] ?? '') && { waited: true as const };
    return { at: [this.now(), (this.count += 1)], stanza, child, parts, plain, ...waited };
  }

  private takeInHand({ attrs }: BinaryNode): void {
    this.inHand.add(attrs['id'] ?? '');
  }

  private note({ attrs }: BinaryNode, id: string): void {
    const message = attrs['id'] ?? '';
    if (attrs['category'] === 'peer') this.peerIds.add(message);
    this.entries.set(message, (this.entries.get(message) ?? new Set()).add(id));
  }

  /** In the form that the library's key store passes on without knowing the type. */
  private write(entries: Record<string, Entry | null>): SignalDataSet {
    const write: { session?: never; [JOURNAL]: Record<string, Entry | null> } = { [JOURNAL]: entries };
    return write;
  }
}

/** A ciphertext by its hash: what is brought again is known by it, whatever its stanza states. */
function idOf(ciphertext: Uint8Array): string {
  return createHash('sha256').update(ciphertext).digest('base64url');
}

/** Stanzas of which every part was decrypted, in the order they arrived, with the content in place of the ciphertext. */
function wholeMessages(entries: readonly Entry[]): BinaryNode[] {
  const byMessage = new Map<string, Entry[]>();
  const inOrder = [...entries].sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
  for (const entry of inOrder) {
    const { id, from, participant } = entry.stanza.attrs;
    const name = JSON.stringify([id, from, participant]);
    byMessage.set(name, [...(byMessage.get(name) ?? []), entry]);
  }
  return [...byMessage.values()].flatMap((parts) => {
    const [first] = parts;
    if (!first || new Set(parts.map(({ child }) => child)).size < first.parts) return [];
    const content = (Array.isArray(first.stanza.content) ? first.stanza.content : []).map((node, index) => {
      const part = parts.find(({ child }) => child === index);
      return part ? { tag: 'plaintext', attrs: node.attrs, content: unpadRandomMax16(part.plain) } : node;
    });
    return [{ ...first.stanza, content }];
  });
}

/**
 * A session of a long conversation stays small.
 *
 * Why: each time the other side answers, libsignal begins a new chain of message keys for what it receives, and never removes
 * one. A chain that is spent takes some 120 bytes, so that a conversation of 10,000 turns has a session of over a megabyte,
 * which is read, parsed, sealed and written with each message.
 *
 * What is kept: the chains in use; of those that are closed the newest, so that a message that begins a session (pkmsg) is known as
 * such when it is delivered twice (any other message is not, with all its chains: libsignal says that no session matches it); and
 * longer those of which keys are left, for messages that were overtaken. A message of a chain that is gone cannot be decrypted, like
 * one of a lost session, and is requested again. Sessions stored before are bounded when they are used next.
 */
import libsignal from 'libsignal';

interface Chain {
  /** `key` is absent once the chain is closed: a newer one has followed it. */
  readonly chainKey: { readonly key?: Buffer };
  readonly chainType: number;
  /** Keys of messages that have not arrived yet, by their place in the chain. */
  readonly messageKeys: Readonly<Record<string, Buffer>>;
}

/** What libsignal calls a SessionEntry; its chains in the order in which they began. */
interface Session {
  readonly _chains: Record<string, Chain>;
}

/** How many turns of a conversation back a message that began it is known as such when it is delivered again. */
export const SPENT_CHAINS_KEPT = 5;
/** How many turns back a message that was overtaken can still be read. Signal's own library has 5. */
export const CLOSED_CHAINS_KEPT = 40;

const RECEIVING = 2;
const REMOVE_OLD = 'removeOldSessions';

/** Makes libsignal, which is changed for the whole process, remove spent chains whenever it stores a session. */
export function removeSpentChains(): void {
  const { prototype } = libsignal.SessionRecord;
  const removeOld: unknown = Reflect.get(prototype, REMOVE_OLD);
  if (typeof removeOld !== 'function') throw new Error('libsignal is not what it was: its sessions grow for ever');
  const removing = function removing(this: { readonly sessions: Record<string, Session> }): void {
    Reflect.apply(removeOld, this, []);
    for (const { _chains: chains } of Object.values(this.sessions)) removeFrom(chains);
  };
  Reflect.set(prototype, REMOVE_OLD, removing);
}

function removeFrom(chains: Record<string, Chain>): void {
  const closed = Object.entries(chains).filter(([, chain]) => chain.chainType === RECEIVING && !chain.chainKey.key);
  closed.reverse().forEach(([id, { messageKeys }], newer) => {
    const isSpent = Object.keys(messageKeys).length === 0;
    if (newer >= (isSpent ? SPENT_CHAINS_KEPT : CLOSED_CHAINS_KEPT)) delete chains[id];
  });
}

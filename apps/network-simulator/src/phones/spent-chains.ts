/**
 * A phone's session of a long conversation stays small. libsignal adds a chain of message keys with each turn and removes none:
 * a phone that answers for days would hold, and write to disk, hundreds of bytes for every turn there was.
 */

/** A record of sessions as libsignal serializes it, as far as it is looked at. */
export interface StoredRecord {
  _sessions: Record<string, StoredSession>;
}

interface StoredSession {
  indexInfo: { closed: number; used: number };
  /** In the order in which they began. */
  _chains: Record<string, { chainKey: { key?: string }; chainType: number; messageKeys: Record<string, string> }>;
}

/** How many turns back a message that began a session is known as such when it is delivered again. */
const SPENT_KEPT = 5;
/** How many turns back a message that was overtaken can be read. */
const CLOSED_KEPT = 40;
const RECEIVING = 2;

/** Removes the chains of a record that nothing can be read with, but the last ones. */
export function removeSpentChains({ _sessions: sessions }: StoredRecord): void {
  for (const { _chains: chains } of Object.values(sessions)) {
    const closed = Object.entries(chains).filter(
      ([, { chainKey, chainType }]) => chainType === RECEIVING && chainKey.key === undefined,
    );
    closed.reverse().forEach(([id, { messageKeys }], newer) => {
      const isSpent = Object.keys(messageKeys).length === 0;
      if (newer >= (isSpent ? SPENT_KEPT : CLOSED_KEPT)) delete chains[id];
    });
  }
}

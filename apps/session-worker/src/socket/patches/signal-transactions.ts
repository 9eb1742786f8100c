/**
 * Key transactions that step Signal sessions take turns.
 *
 * Why: the library locks a transaction by what it is for, a send by our own id, a decryption by its sender. Both read the
 * session with a person, step it, and write it back when they end; side by side, the one that ends last writes over what the
 * other has stored. A session that a first message began is lost in this way together with its one-time key, and nothing
 * that follows in it can be read. Contacts are requested to send another copy then; what a phone sends to a new device (the history,
 * the keys of the shared state) comes once only.
 */
import type { SignalKeyStoreWithTransaction } from '@whiskeysockets/baileys';

/** The name of the turn; no type of keys, as the library locks those by their names. */
const TURN = 'signal-sessions';
/**
 * They pass beside the others. A send waits for look-ups that others began, which store what they found, and for the
 * lists of devices, which a notice of removed devices holds while it deletes their sessions; groups have keys of another
 * kind, each written by one side only.
 */
const UNSERIALIZED_LOCKS = /^(lid-mapping|delete-\d+-sessions|.+@g\.us|.+@broadcast)$/;

/** Makes the library's store, which is changed, run such transactions one after the other, as they were begun. */
export function serializeSignalTransactions(keys: SignalKeyStoreWithTransaction): void {
  const transaction = keys.transaction.bind(keys);
  keys.transaction = (work, name) => transaction(work, UNSERIALIZED_LOCKS.test(name) ? name : TURN);
}

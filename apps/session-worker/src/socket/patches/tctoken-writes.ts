/**
 * The tokens that contacts and we give each other ("tctoken") stay out of the key store's transactions.
 *
 * The library gives a contact its token in work that it starts inside the transaction of a send and does not wait for. It
 * notes that it did when the transaction has long ended, and what is set in an ended transaction is lost: every message
 * to a contact would give it to the network again. Tokens are no part of a ratchet, so nothing needs them
 * written together with one.
 */
import type { SignalDataSet, SignalDataTypeMap, SignalKeyStore } from '@whiskeysockets/baileys';

const TOKENS = 'tctoken';

/**
 * Makes a store with transactions read and write tokens directly.
 * @param transactional the library's store, which is changed
 * @param store what lies below it
 */
export function writeTcTokensDirectly(transactional: SignalKeyStore, store: SignalKeyStore): void {
  const get = transactional.get.bind(transactional);
  const set = transactional.set.bind(transactional);
  transactional.get = <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
    type === TOKENS ? store.get(type, ids) : get(type, ids);
  transactional.set = async (data: SignalDataSet) => {
    const { [TOKENS]: tokens, ...others } = data;
    if (tokens) await store.set({ [TOKENS]: tokens });
    if (Object.keys(others).length > 0) await set(others);
  };
}

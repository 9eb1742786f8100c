import { EventEmitter, once } from 'node:events';
import {
  addTransactionCapability,
  DEFAULT_CONNECTION_CONFIG,
  type SignalDataSet,
  type SignalKeyStore,
} from '@whiskeysockets/baileys';
import { writeTcTokensDirectly } from './tctoken-writes.js';

const CONTACT = '15550001111@lid';
const token = (senderTimestamp: number) => ({ token: Buffer.alloc(0), senderTimestamp });

function setup() {
  const written: SignalDataSet[] = [];
  const store: SignalKeyStore = { get: () => ({}), set: (data) => void written.push(data) };
  const { logger } = DEFAULT_CONNECTION_CONFIG;
  const keys = addTransactionCapability(store, logger, { maxCommitRetries: 1, delayBetweenTriesMs: 0 });
  writeTcTokensDirectly(keys, store);
  return { keys, written };
}

describe('writeTcTokensDirectly', () => {
  it('stores a token that is set by work which outlives its transaction', async () => {
    const { keys, written } = setup();
    const transaction = new EventEmitter();
    let later: Promise<void> | undefined;
    await keys.transaction(() => {
      later = once(transaction, 'over').then(() => Promise.resolve(keys.set({ tctoken: { [CONTACT]: token(5) } })));
      return Promise.resolve();
    }, 'send');
    transaction.emit('over');
    await later;
    expect(written).toEqual([{ tctoken: { [CONTACT]: token(5) } }]);
  });

  it('leaves everything else to the transaction, which is written as a whole', async () => {
    const { keys, written } = setup();
    await keys.transaction(async () => {
      await keys.set({ session: { a: Buffer.of(1) }, tctoken: { [CONTACT]: token(5) } });
      await keys.set({ session: { b: Buffer.of(2) } });
      expect(written).toEqual([{ tctoken: { [CONTACT]: token(5) } }]);
    }, 'send');
    expect(written.slice(1)).toEqual([{ session: { a: Buffer.of(1), b: Buffer.of(2) } }]);
  });
});

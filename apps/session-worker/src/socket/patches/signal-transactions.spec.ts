import { EventEmitter, once } from 'node:events';
import { addTransactionCapability, DEFAULT_CONNECTION_CONFIG, type SignalKeyStore } from '@whiskeysockets/baileys';
import { serializeSignalTransactions } from './signal-transactions.js';

const OWN = '15550009999:3@s.whatsapp.net';
const CONTACT = '900000000001@lid';

function setup() {
  const store: SignalKeyStore = { get: () => ({}), set: () => undefined };
  const { logger } = DEFAULT_CONNECTION_CONFIG;
  const keys = addTransactionCapability(store, logger, { maxCommitRetries: 1, delayBetweenTriesMs: 0 });
  serializeSignalTransactions(keys);
  return keys;
}

describe('serializeSignalTransactions', () => {
  it.each([
    ['a send and a decryption', OWN, CONTACT],
    ['a decryption and a send', CONTACT, OWN],
    ['a decryption and a move of sessions to another address', CONTACT, 'migrate-1-sessions-900000000001'],
  ])(
    'begins a transaction that may step a session only when the one before has stored: %s',
    async (_what, ...names) => {
      const keys = setup();
      const order: string[] = [];
      const step = (name: string) =>
        keys.transaction(async () => {
          order.push(`${name} begins`);
          await new Promise((resolve) => setImmediate(resolve));
          order.push(`${name} ends`);
        }, name);
      await Promise.all(names.map(step));
      expect(order).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
    },
  );

  it.each(['lid-mapping', 'delete-2-sessions', '120363000000000001@g.us', 'status@broadcast'])(
    'lets a transaction wait for another that is not about sessions: %s',
    async (name) => {
      const keys = setup();
      const transaction = new EventEmitter();
      const other = once(transaction, 'begun').then(() => keys.transaction(() => Promise.resolve('stored'), name));
      const waited = keys.transaction(() => {
        transaction.emit('begun');
        return other;
      }, OWN);
      expect(await waited).toBe('stored');
    },
  );
});

import { jest } from '@jest/globals';
import { scanCode } from '../linking/pairing.js';
import { addHistory } from '../phones/seed-history.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('the history of a phone', () => {
  let simulator: Simulator;
  let alice: Phone;

  beforeEach(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    network.accounts.add('6591110002', 'Bob');
  });
  afterEach(() => simulator.stop());

  const linked = async (): Promise<Client> => {
    const client = new Client(simulator, mediaThrough(simulator));
    await client.link((qr) => scanCode(simulator.network, alice.account, qr));
    return client;
  };
  const received = (client: Client) => client.eventsOf('messaging-history.set');

  it.each([
    [undefined, 'within messages'],
    ['always' as const, 'as files'],
  ])('thousands of messages arrive (%s: %s), and names and private ids with them', async (historyFiles, _how) => {
    alice.configure({ historyFiles });
    addHistory(alice, { chats: ['6591110002'], messagesPerChat: 2500 });
    const client = await linked();
    await client.until(
      () => received(client).flatMap(({ messages }) => messages).length >= 2500,
      'the history',
      20_000,
    );
    const events = received(client);
    const ids = new Set(events.flatMap(({ messages }) => messages).map(({ key }) => key.id));
    expect(ids.size).toBe(2500);
    expect(events.flatMap(({ chats }) => chats).map(({ id }) => id)).toContain('6591110002@s.whatsapp.net');
    const lid = await client.socket.signalRepository.lidMapping.getLIDForPN('6591110002@s.whatsapp.net');
    expect(lid).toContain(simulator.network.accounts.byNumber('6591110002')?.lid);
    await client.end();
  });

  it('what is older than 90 days comes to a device that requested all when it was linked, and to no other', async () => {
    addHistory(alice, { chats: ['6591110002'], messagesPerChat: 300, minutesApart: 24 * 60 });
    const numbers = [];
    for (const syncFullHistory of [true, false]) {
      const client = new Client(simulator, { syncFullHistory });
      await client.link((qr) => scanCode(simulator.network, alice.account, qr));
      const ids = () =>
        new Set(
          received(client)
            .flatMap(({ messages }) => messages)
            .map(({ key }) => key.id),
        ).size;
      await client.until(() => ids() >= (syncFullHistory ? 300 : 89), 'the history', 20_000);
      numbers.push(ids());
      await client.end();
    }
    expect(numbers[0]).toBe(300);
    expect(numbers[1]).toBeLessThanOrEqual(91);
  });

  it('older messages come when a client requests them', async () => {
    addHistory(alice, { chats: ['6591110002'], messagesPerChat: 60 });
    const client = await linked();
    await client.until(() => received(client).length > 0, 'the history');
    const all = alice.messages.all();
    const oldest = all[30];
    if (!oldest) throw new Error('no history');
    const key = { remoteJid: oldest.chat, id: oldest.id, fromMe: oldest.fromMe };
    const session = await client.socket.fetchMessageHistory(10, key, oldest.timestamp * 1000);
    const answer = await client.until(
      () => received(client).find(({ peerDataRequestSessionId }) => peerDataRequestSessionId === session),
      'the older messages',
    );
    const requested = all
      .slice(20, 30)
      .reverse()
      .map(({ id }) => id);
    // A part of the first history that the library still holds back is merged into the answer's event.
    const got = answer.messages.map(({ key: { id } }) => id ?? '').filter((id) => requested.includes(id));
    expect(got).toEqual(requested);
    await client.end();
  });
});

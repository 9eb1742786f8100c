import type { WAMessage } from '@whiskeysockets/baileys';
import { scanCode } from '../linking/pairing.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001';
const BOB = '6591110002@s.whatsapp.net';

describe('what somebody deletes for themselves', () => {
  let simulator: Simulator;
  let bob: Phone;
  let first: Client;
  let second: Client;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    const alice = network.accounts.add(ALICE, 'Alice');
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    [first, second] = [new Client(simulator), new Client(simulator)];
    for (const client of [first, second]) await client.link((qr) => scanCode(network, alice, qr));
  }, 120_000);

  afterAll(async () => {
    await first.end();
    await second.end();
    await simulator.stop();
  });

  const read = async <T>(path: string): Promise<T> => (await fetch(simulator.control + path)).json() as Promise<T>;
  const shownAtPhone = async (): Promise<string[]> =>
    (await read<{ text: string }[]>(`/phones/${ALICE}/messages?chat=${BOB}`)).map(({ text }) => text);
  const chatsAtPhone = (): Promise<{ chat: string; unread: number; clearedAtMs?: number }[]> =>
    read(`/phones/${ALICE}/chats`);
  const last = ({ key, messageTimestamp }: WAMessage) => [{ key, messageTimestamp }];

  async function sent(...texts: string[]): Promise<WAMessage> {
    for (const text of texts) await bob.sendText(ALICE, text);
    const newest = texts.at(-1) ?? '';
    await second.text(newest);
    return first.text(newest);
  }

  it('a message that a client deletes for itself is gone from its phone and the other client, and stays with the author', async () => {
    const message = await sent('keep this', 'not that');
    const { key } = message;
    await first.socket.chatModify(
      { deleteForMe: { deleteMedia: false, key, timestamp: Number(message.messageTimestamp) } },
      BOB,
    );
    await second.until(
      () => second.eventsOf('messages.delete').some((event) => 'keys' in event && event.keys[0]?.id === key.id),
      'the deletion',
    );
    expect(await shownAtPhone()).toEqual(['keep this']);
    expect(bob.messages.get(key.id ?? '')).toMatchObject({ text: 'not that' });
    expect(bob.messages.get(key.id ?? '')?.deleted).toBeUndefined();
  });

  it('a message that the phone deletes for itself is gone from its clients', async () => {
    const { key } = await sent('the phone deletes this');
    await fetch(`${simulator.control}/phones/${ALICE}/chats`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chat: BOB, deleteForMe: key.id }),
    });
    await first.until(
      () => first.eventsOf('messages.delete').some((event) => 'keys' in event && event.keys[0]?.id === key.id),
      'the deletion',
    );
    expect(await shownAtPhone()).toEqual(['keep this']);
  });

  it('a chat that a client clears is empty on its phone, and still there', async () => {
    const message = await sent('to be cleared', 'this too');
    await first.socket.chatModify({ clear: true, lastMessages: last(message) }, BOB);
    expect(await shownAtPhone()).toEqual([]);
    expect(await chatsAtPhone()).toMatchObject([{ chat: BOB, unread: 0, clearedAtMs: expect.any(Number) as number }]);
  });

  it('a chat that a client deletes is gone from its phone until somebody writes in it', async () => {
    const message = await sent('to be deleted');
    await first.socket.chatModify({ delete: true, lastMessages: last(message) }, BOB);
    expect(await chatsAtPhone()).toEqual([]);
    await sent('hello again');
    expect(await chatsAtPhone()).toMatchObject([{ chat: BOB, unread: 1 }]);
    expect(await shownAtPhone()).toEqual(['hello again']);
  });
});

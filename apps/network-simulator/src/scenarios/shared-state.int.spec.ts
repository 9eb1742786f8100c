import type { WAMessage, WAPatchName } from '@whiskeysockets/baileys';
import { scanCode } from '../linking/pairing.js';
import { changeChat, nameContact, sharePushName } from '../phones/change-chats.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { child } from '../wire/node.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

const BOB = '6591110002@s.whatsapp.net';
const CHECKING = { appStateMacVerification: { patch: true, snapshot: true } };

describe('state that the devices of an account share', () => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let first: Client;
  let second: Client;
  let last: WAMessage;

  const link = async (): Promise<Client> => {
    const client = new Client(simulator, { ...CHECKING, ...mediaThrough(simulator) });
    await client.link((qr) => scanCode(simulator.network, alice.account, qr));
    return client;
  };
  const chatUpdate = (
    client: Client,
    fits: (update: { id?: string | null } & Record<string, unknown>) => boolean,
    what: string,
  ) =>
    client.until(
      () =>
        client
          .eventsOf('chats.update')
          .flat()
          .some((update) => fits(update as never)),
      what,
    );

  /** Names of contacts; what comes while the history is still buffered is merged into its event. */
  const namesOf = (client: Client) =>
    [
      ...client.eventsOf('contacts.upsert').flat(),
      ...client.eventsOf('messaging-history.set').flatMap(({ contacts }) => contacts),
    ].map(({ name }) => name);

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    await bob.sendText('6591110001', 'long before');
    first = await link();
    second = await link();
    await bob.sendText('6591110001', 'hello');
    last = await first.text('hello');
    await second.text('hello');
  }, 120_000);

  afterAll(async () => {
    await first.end();
    await second.end();
    await simulator.stop();
  });

  it('what a client changes reaches the phone and the other client, with MACs that both check', async () => {
    const lastMessages = [{ key: last.key, messageTimestamp: last.messageTimestamp }];
    await first.socket.chatModify({ archive: true, lastMessages }, BOB);
    await chatUpdate(second, ({ id, archived }) => id === BOB && archived === true, 'archiving');
    await first.socket.chatModify({ pin: true }, BOB);
    await chatUpdate(second, ({ id, pinned }) => id === BOB && Number(pinned) > 0, 'pinning');
    await second.socket.chatModify({ mute: 1_900_000_000_000 }, BOB);
    await chatUpdate(first, ({ id, muteEndTime }) => id === BOB && Number(muteEndTime) === 1_900_000_000_000, 'muting');
    await first.socket.chatModify({ markRead: false, lastMessages }, BOB);
    await first.socket.chatModify({ star: { messages: [{ id: last.key.id ?? '', fromMe: false }], star: true } }, BOB);
    await first.socket.addOrEditContact(BOB, { fullName: 'Bob the friend', firstName: 'Bob' });
    await second.until(
      () =>
        second
          .eventsOf('contacts.upsert')
          .flat()
          .some(({ name }) => name === 'Bob the friend'),
      'the contact',
    );
    await first.socket.updateProfileName('Alice B.');
    await second.until(() => second.auth.creds.me?.name === 'Alice B.', 'the name');
    expect(alice.shared.chats[BOB]).toMatchObject({
      archived: true,
      mutedUntilMs: 1_900_000_000_000,
      markedRead: false,
    });
    expect(alice.shared.chats[BOB]?.pinnedAtMs).toBeGreaterThan(0);
    expect(alice.shared.starred).toEqual([last.key.id]);
    expect(alice.shared.contacts).toEqual({ [BOB]: 'Bob the friend' });
    expect(alice.account.name).toBe('Alice B.');
  });

  it('what the phone changes reaches both clients', async () => {
    changeChat(alice, BOB, { archived: false });
    await chatUpdate(first, ({ id, archived }) => id === BOB && archived === false, 'unarchiving');
    changeChat(alice, BOB, { mutedUntilMs: 0, pinned: false });
    await chatUpdate(second, ({ id, muteEndTime }) => id === BOB && muteEndTime === null, 'unmuting');
    nameContact(alice, BOB, 'Robert');
    await first.until(
      () =>
        first
          .eventsOf('contacts.upsert')
          .flat()
          .some(({ name }) => name === 'Robert'),
      'the contact',
    );
    sharePushName(alice, 'Alice again');
    await first.until(() => first.auth.creds.me?.name === 'Alice again', 'the name');
    changeChat(alice, BOB, { delete: true });
    await first.until(() => first.eventsOf('chats.delete').flat().includes(BOB), 'deletion');
  });

  it('a client that comes later learns everything, in pages', async () => {
    simulator.network.limits.patchesPerAnswer = 2;
    const third = await link();
    simulator.network.limits.patchesPerAnswer = 100;
    await third.until(() => third.auth.creds.me?.name === 'Alice again', 'the name');
    await third.until(() => namesOf(third).includes('Robert'), 'the contact');
    await third.end();
  });

  it('a client that comes later learns everything from snapshot files', async () => {
    simulator.network.limits.snapshotAfterPatches = 1;
    const fourth = await link();
    simulator.network.limits.snapshotAfterPatches = 0;
    await fourth.until(() => fourth.auth.creds.me?.name === 'Alice again', 'the name');
    await fourth.until(() => namesOf(fourth).includes('Robert'), 'the contact');
    const { version } = (await fourth.auth.keys.get('app-state-sync-version', ['regular_low']))['regular_low'] ?? {};
    expect(version).toBe(alice.account.appState().collections['regular_low']?.version);
    await fourth.end();
  });

  it('a change made on an old version is a conflict, and one with broken MACs is refused', async () => {
    const name: WAPatchName = 'regular_low';
    const collection = alice.account.appState().collections[name];
    const version = collection?.version ?? 0;
    const patch = collection?.patches.at(-1) ?? Buffer.alloc(0);
    const push = (at: number) =>
      first.socket.query({
        tag: 'iq',
        attrs: { to: '@s.whatsapp.net', type: 'set', xmlns: 'w:sync:app:state' },
        content: [
          {
            tag: 'sync',
            attrs: {},
            content: [
              {
                tag: 'collection',
                attrs: { name, version: String(at) },
                content: [{ tag: 'patch', attrs: {}, content: patch }],
              },
            ],
          },
        ],
      });
    const codeAt = async (at: number): Promise<string | undefined> =>
      child(child(child(await push(at), 'sync'), 'collection'), 'error')?.attrs['code'];
    expect(await codeAt(version - 1)).toBe('409');
    expect(await codeAt(version)).toBe('400');
    expect(collection?.version).toBe(version);
  });
});

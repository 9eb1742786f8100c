import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { proto } from '@whiskeysockets/baileys';
import { createGroup, setRole } from '../groups/group-members.js';
import { changeGroup } from '../groups/group-settings.js';
import { scanCode } from '../linking/pairing.js';
import { changeChat } from '../phones/change-chats.js';
import { optionHash } from '../phones/sealed.js';
import { addHistory } from '../phones/seed-history.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

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

  it('messages come with how far they got, reactions, votes, stars and deletions; chats with their settings', async () => {
    const { network, phones } = simulator;
    const bob = phones.of(network.accounts.byNumber('6591110002') ?? network.accounts.add());
    const [, chat] = [alice.account.phoneJid, bob.account.phoneJid];
    const read = await alice.sendText(chat, 'read by now');
    const poll = await alice.sendDraft(chat, { poll: { name: 'Lunch?', options: ['Rice', 'Noodles'] } });
    const gone = await alice.sendText(chat, 'deleted by now');
    await bob.wait({ id: gone.id }, 5000);
    bob.read(alice.account.phoneJid, [read.id]);
    for (const emoji of ['👍', '🎉']) await bob.sendDraft(alice.account.phoneJid, { reaction: { id: read.id, emoji } });
    await bob.sendDraft(alice.account.phoneJid, { vote: { id: poll.id, options: ['Noodles'] } });
    const seconds = 86_400;
    await bob.send(alice.account.phoneJid, { protocolMessage: { type: 3, ephemeralExpiration: seconds } });
    const last = await bob.sendText(alice.account.phoneJid, 'the last');
    await alice.wait({ id: last.id }, 5000);
    await alice.sendDraft(chat, { delete: { id: gone.id } });
    changeChat(alice, chat, { star: { id: read.id, starred: true } });
    // In the phone alone: the library merges what the shared state has into the history's event.
    const settings = { archived: true, pinnedAtMs: 1_800_000_000_000, mutedUntilMs: 1_900_000_000_000 };
    alice.shared.chats[chat] = { ...alice.shared.chats[chat], ...settings };
    expect(alice.chats()).toMatchObject([{ chat, unread: 1 }]);
    const client = await linked();
    await client.until(() => received(client).length > 0, 'the history');
    const messages = received(client).flatMap((part) => part.messages);
    const message = (id: string) => messages.find(({ key }) => key.id === id);
    expect(message(read.id)).toMatchObject({ status: 4, starred: true, reactions: [{ text: '🎉' }] });
    expect(message(read.id)?.reactions?.[0]?.key).toMatchObject({ remoteJid: chat, fromMe: false });
    const chosen = message(poll.id)?.pollUpdates?.map(({ vote }) => vote?.selectedOptions?.map(hex));
    expect(chosen).toEqual([[hex(optionHash('Noodles'))]]);
    expect(message(gone.id)).toMatchObject({ messageStubType: 1 });
    expect(message(gone.id)?.message).toBeFalsy();
    expect(message(last.id)?.status).toBeFalsy();
    const known = received(client)
      .flatMap(({ chats }) => chats)
      .find(({ id }) => id === chat);
    expect(known).toMatchObject({ archived: true, ephemeralExpiration: seconds, unreadCount: 1 });
    expect([Number(known?.pinned), Number(known?.muteEndTime)]).toEqual([1_800_000_000, 1_900_000_000]);
    await client.end();
  });

  it('groups come with their members and what happened in them', async () => {
    const { network } = simulator;
    const bob = network.accounts.byNumber('6591110002') ?? network.accounts.add();
    const { group } = createGroup(network, bob, 'Old times', [alice.account.phoneJid]);
    setRole(network, group, bob, [alice.account.phoneJid], 'admin');
    changeGroup(network, group, bob, { tag: 'subject', attrs: {}, content: Buffer.from('New times') });
    changeGroup(network, group, bob, { tag: 'ephemeral', attrs: { expiration: '86400' } });
    await alice.idle();
    const client = await linked();
    const chat = await client.until(
      () =>
        received(client)
          .flatMap(({ chats }) => chats)
          .find(({ id }) => id === group.jid),
      'the group',
    );
    expect(chat).toMatchObject({ name: 'New times', ephemeralExpiration: 86_400 });
    expect(chat.participant).toMatchObject([
      { userJid: bob.lidJid, rank: 2 },
      { userJid: alice.account.lidJid, rank: 1 },
    ]);
    const notices = received(client).flatMap(({ messages }) =>
      messages.filter(({ key }) => key.remoteJid === group.jid),
    );
    const { GROUP_CREATE, GROUP_PARTICIPANT_PROMOTE, GROUP_CHANGE_SUBJECT } = proto.WebMessageInfo.StubType;
    expect(notices.map(({ messageStubType: type }) => Number(type)).sort((a, b) => a - b)).toEqual(
      [GROUP_CREATE, GROUP_PARTICIPANT_PROMOTE, GROUP_CHANGE_SUBJECT].map(Number).sort((a, b) => a - b),
    );
    expect(notices.find(({ messageStubType: type }) => type === GROUP_CHANGE_SUBJECT)).toMatchObject({
      key: { participant: bob.phoneJid },
      messageStubParameters: ['New times'],
    });
    await client.end();
  });

  it('what happened in groups is in the history after a restart, and is gone with the phone', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'simulator-'));
    const before = await startSimulator({ dataDir });
    const owner = before.network.accounts.add('6591110001', 'Alice');
    const { group } = createGroup(before.network, owner, 'Kept', []);
    changeGroup(before.network, group, owner, { tag: 'subject', attrs: {}, content: Buffer.from('Renamed') });
    await before.phones.of(owner).idle();
    await before.stop();

    const after = await startSimulator({ dataDir });
    const found = after.network.accounts.byNumber('6591110001');
    if (!found) throw new Error('Alice is gone');
    const client = new Client(after, mediaThrough(after));
    await client.link((qr) => scanCode(after.network, found, qr));
    await client.until(
      () =>
        received(client)
          .flatMap(({ messages }) => messages)
          .find(({ messageStubParameters: given }) => (given as string[] | undefined)?.includes('Renamed')),
      'the new subject',
    );
    await client.end();
    expect((await fetch(`${after.control}/phones/6591110001`, { method: 'DELETE' })).status).toBe(200);
    await after.stop();
    expect((await readdir(join(dataDir, 'accounts'))).filter((name) => name.startsWith('6591110001'))).toEqual([]);
    await rm(dataDir, { recursive: true });
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

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type WebSocket from 'ws';
import { setPhoneAvailable } from '../delivery/presence.js';
import { createGroup } from '../groups/group-members.js';
import { scanCode, unlink } from '../linking/pairing.js';
import { deviceListHash } from '../network/device-lists.js';
import { download } from '../phones/attachments.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { child, children, type Node } from '../wire/node.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('connections of linked devices', () => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let client: Client;

  beforeEach(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator);
    await client.link((qr) => scanCode(network, alice.account, qr));
  });

  afterEach(async () => {
    await client.end();
    await simulator.stop();
  });

  it('brings what was missed while away, in order', async () => {
    await bob.sendText('6591110001', 'before');
    await client.text('before');
    const device = alice.account.devices.get(1);
    await device?.queue.whenEmpty();
    await client.end();
    for (const text of ['one', 'two', 'three']) await bob.sendText('6591110001', text);
    expect(device?.queue.size).toBe(3);
    const announced: Record<string, string>[] = [];
    const connecting = client.connect();
    client.socket.ws.on('CB:ib,,offline_preview', (ib: Node) => {
      announced.push(child(ib, 'offline_preview')?.attrs ?? {}, { shown: String(client.texts().has('one')) });
    });
    await connecting;
    await client.text('three');
    expect(announced).toMatchObject([
      { count: '3', message: '3', receipt: '0', notification: '0' },
      { shown: 'false' },
    ]);
    const texts = client.messages.map(({ message }) => message.message?.conversation).filter(Boolean);
    expect(texts).toEqual(['before', 'one', 'two', 'three']);
    await bob.wait({ text: 'three', status: 'delivered' }, 5000);
    expect(device?.queue.size).toBe(0);
  });

  it('delivers again what a dying connection lost, and what was received but not confirmed; a client shows each once', async () => {
    await bob.sendText('6591110001', 'before');
    await client.text('before');
    const device = alice.account.devices.get(1);
    await device?.queue.whenEmpty();
    const connection = device && simulator.network.connections.of(device);
    if (!connection) throw new Error('not connected');
    // What was handed to the line still leaves; nothing that the client sends to it is received.
    await bob.sendText('6591110001', 'received, not confirmed');
    connection.silent = true;
    await client.text('received, not confirmed');
    await bob.sendText('6591110001', 'swallowed');
    expect(device?.queue.all().map(({ tag }) => tag)).toEqual(['message', 'message']);
    const closed = client.closed();
    connection.cut();
    await closed;
    const again: (string | undefined)[] = [];
    const socket = client.start();
    socket.ws.on('CB:message', ({ attrs }: { attrs: Record<string, string> }) => void again.push(attrs['offline']));
    await client.text('swallowed');
    await device?.queue.whenEmpty();
    expect(again).toEqual(['0', '1']);
    const shown = client.messages
      .filter(({ message }) => message.message)
      .map(({ message }) => message.message?.conversation);
    expect(shown.filter((text) => text === 'received, not confirmed')).toHaveLength(1);
    expect(shown.filter((text) => text === 'swallowed')).toHaveLength(1);
  });

  it('what one device of a number sends and reads, its other devices show', async () => {
    const second = new Client(simulator);
    await second.link((qr) => scanCode(simulator.network, alice.account, qr));
    const sent = await client.send('6591110002@s.whatsapp.net', { text: 'from the first device' });
    const copy = await second.text('from the first device');
    expect(copy.key).toMatchObject({ id: sent.key.id, fromMe: true, remoteJid: '6591110002@s.whatsapp.net' });
    await second.send('6591110002@s.whatsapp.net', { text: 'from the second device' });
    await client.text('from the second device');
    expect((await alice.wait({ text: 'from the second device' }, 5000))?.fromMe).toBe(true);
    const received = await bob.sendText('6591110001', 'to both');
    const { key } = await client.text('to both');
    await second.text('to both');
    await client.socket.readMessages([key]);
    await second.status(received.id, 4);
    await second.end();
  });

  it('sends again under the same id what a client could not read', async () => {
    await bob.sendText('6591110001', 'first');
    await client.text('first');
    await client.auth.keys.set({ session: { [`${bob.account.lid}_1.0`]: null } });
    const lost = await bob.sendText('6591110001', 'lost and found');
    const got = await client.text('lost and found');
    expect(got.key.id).toBe(lost.id);
    await bob.wait({ id: lost.id, status: 'delivered' }, 5000);
  });

  it('requests again from a client what a phone could not read', async () => {
    await client.send('6591110002@s.whatsapp.net', { text: 'first' });
    await bob.wait({ text: 'first' }, 5000);
    await bob.sendText('6591110001', 'answered, so that the session needs no key exchange');
    await client.text('answered, so that the session needs no key exchange');
    await client.send('6591110002@s.whatsapp.net', { text: 'second' });
    await bob.wait({ text: 'second' }, 5000);
    bob.sessions.forget({ account: alice.account, device: 1 });
    const sent = await client.send('6591110002@s.whatsapp.net', { text: 'third' });
    expect(await bob.wait({ text: 'third' }, 8000)).toMatchObject({ id: sent.key.id });
    expect(bob.unreadable.size).toBe(0);
  });

  it('replaces the older of two sockets of one device, and counts that there were two', async () => {
    const second = new Client(simulator);
    Object.assign(second, { auth: client.auth });
    const closed = client.closed();
    await second.connect();
    expect(await closed).toBe(440);
    expect(simulator.network.connections.overlaps).toBe(1);
    expect(simulator.network.connections.log.map(({ event }) => event)).toEqual(['open', 'replaced', 'open']);
    await second.end();
  });

  it('a client that connects again gets events of its new socket alone, however late the older one closes', async () => {
    const older = client.socket;
    const closed = new Promise((resolve) => older.ev.on('connection.update', resolve));
    await client.connect();
    expect(await closed).toMatchObject({ connection: 'close' });
    expect(client.socket).not.toBe(older);
    expect(client.online).toBe(true);
    await bob.sendText('6591110001', 'to the new socket');
    await client.text('to the new socket');
  });

  it('unlinks from the phone and from the device', async () => {
    const closed = client.closed();
    const device = alice.account.devices.get(1);
    if (!device) throw new Error('not linked');
    unlink(simulator.network, device);
    expect(await closed).toBe(401);
    await expect(client.connect()).rejects.toMatchObject({ output: { statusCode: 401 } });

    const other = new Client(simulator);
    await other.link((qr) => scanCode(simulator.network, alice.account, qr));
    expect(other.jid).toBe('6591110001:2@s.whatsapp.net');
    await other.socket.logout();
    await expect(other.connect()).rejects.toMatchObject({ output: { statusCode: 401 } });
    expect(alice.account.devices.size).toBe(0);
  });

  it('after its last stanza a line stays open for a moment: the client may close first', async () => {
    const device = alice.account.devices.get(1);
    if (!device) throw new Error('not linked');
    // A client that only waits, and drops what it has not handled when the line closes.
    const { ws } = client.socket;
    ws.close = () => Promise.resolve();
    const raw = Reflect.get(ws, 'socket') as WebSocket;
    const alive = new Promise<string>((resolve) => {
      raw.once('pong', () => resolve('open'));
      raw.once('close', () => resolve('closed'));
    });
    ws.on('CB:stream:error', () => raw.ping());
    unlink(simulator.network, device);
    expect(await alive).toBe('open');
    await new Promise((resolve) => raw.once('close', resolve));
  });

  it('notifies those who knew the devices of a number that one was added', async () => {
    await client.send('6591110002@s.whatsapp.net', { text: 'bob has no client yet' });
    await bob.wait({ text: 'bob has no client yet' }, 5000);
    const other = new Client(simulator);
    await other.link((qr) => scanCode(simulator.network, bob.account, qr));
    await client.send('6591110002@s.whatsapp.net', { text: 'and now he has' });
    await other.text('and now he has');
    await other.end();
  });

  it('names a device that is added once, under both addresses, with the hashes of the whole list', async () => {
    await client.send('6591110002@s.whatsapp.net', { text: 'whoever has a device' });
    const received = new Promise<Node>((resolve) =>
      client.socket.ws.on('CB:notification', (notice: Node) => {
        if (notice.attrs['type'] === 'devices') resolve(notice);
      }),
    );
    const other = new Client(simulator);
    await other.link((qr) => scanCode(simulator.network, bob.account, qr));
    const notice = await received;
    const [id = 0] = [...bob.account.devices.keys()].slice(-1);
    expect(notice.attrs).toMatchObject({ from: bob.account.phoneJid, lid: bob.account.lidJid });
    expect(child(notice)).toMatchObject({
      tag: 'add',
      attrs: {
        device_hash: deviceListHash([bob.account], 's.whatsapp.net'),
        device_lid_hash: deviceListHash([bob.account], 'lid'),
      },
    });
    expect(children(child(notice), 'device').map(({ attrs }) => attrs)).toMatchObject([
      { jid: bob.account.jidLike('s.whatsapp.net', id), lid: bob.account.jidLike('lid', id) },
    ]);
    await other.end();
  });

  it('acknowledges a message that leaves a device out with the hash of all devices, and no other', async () => {
    const send = async (text: string) => {
      const messageId = client.newId();
      const ack = client.acknowledged(messageId);
      await client.send('6591110002@s.whatsapp.net', { text }, { messageId });
      return (await ack) ?? {};
    };
    expect((await send('for all devices'))['phash']).toBeUndefined();
    client.socket.ws.prependListener('CB:notification', (notice: { attrs: Node['attrs']; content?: unknown }) => {
      if (notice.attrs['type'] === 'devices') notice.content = [];
    });
    const other = new Client(simulator);
    await other.link((qr) => scanCode(simulator.network, bob.account, qr));
    const all = deviceListHash([bob.account, alice.account], 's.whatsapp.net');
    expect((await send('for those that are known'))['phash']).toBe(all);
    await other.end();
  });

  it('refuses what is no code, unknown codes and expired ones', async () => {
    await expect(scanCode(simulator.network, bob.account, 'no code')).rejects.toMatchObject({ code: 400 });
    await expect(scanCode(simulator.network, bob.account, '2@x,YQ==,YQ==,YQ==,1')).rejects.toMatchObject({ code: 404 });
    const gone = new Client(simulator);
    const code = await gone.code();
    const closed = gone.closed();
    await gone.end();
    await closed;
    await expect(scanCode(simulator.network, bob.account, code)).rejects.toMatchObject({ code: 410 });
  });
});

describe('a network kept on disk', () => {
  const alicePhone = ({ network, phones }: Simulator): Phone => {
    const account = network.accounts.byNumber('6591110001');
    if (!account) throw new Error('Alice is gone');
    return phones.of(account);
  };

  it('finds its phones, linked devices, sessions and queues again after a restart', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'simulator-'));
    let simulator = await startSimulator({ dataDir });
    const { rootKey } = simulator;
    const port = Number(new URL(simulator.control).port);
    let bob = simulator.phones.of(simulator.network.accounts.add('6591110002', 'Bob'));
    const alice = simulator.network.accounts.add('6591110001', 'Alice');
    const client = new Client(simulator);
    await client.link((qr) => scanCode(simulator.network, alice, qr));
    await bob.sendText('6591110001', 'first');
    await client.text('first');
    await client.send('6591110002@s.whatsapp.net', { text: 'answer' });
    await bob.wait({ text: 'answer' }, 5000);
    const { group } = createGroup(simulator.network, bob.account, 'Survivors', [alice.phoneJid]);
    const file = Buffer.alloc(3000, 5);
    const { id: fileId } = await bob.sendDraft(group.jid, { document: { bytes: file, fileName: 'kept.bin' } });
    await client.message(({ key }) => key.id === fileId, 'the file');
    await client.socket.chatModify({ pin: true }, '6591110002@s.whatsapp.net');
    await alicePhone(simulator).idle();
    await client.end();
    await bob.sendText('6591110001', 'waits over the restart');
    await simulator.stop();

    simulator = await startSimulator({ dataDir, port });
    expect(simulator.rootKey).toBe(rootKey);
    const found = simulator.network.accounts.byNumber('6591110002');
    if (!found) throw new Error('Bob is gone');
    bob = simulator.phones.of(found);
    expect(bob.messages.all().map(({ text }) => text)).toEqual([
      'first',
      'answer',
      'kept.bin',
      'waits over the restart',
    ]);
    setPhoneAvailable(simulator.network, alicePhone(simulator).account, true);
    expect(bob.events.all({ kind: 'presence', what: 'available' })).toMatchObject([{ from: alice.phoneJid }]);
    setPhoneAvailable(simulator.network, alicePhone(simulator).account, false);
    const kept = alicePhone(simulator).messages.get(fileId);
    expect(kept && (await download(simulator.network, kept)).bytes.equals(file)).toBe(true);
    expect(simulator.network.groups.find(group.jid)?.state.subject.text).toBe('Survivors');
    expect(alicePhone(simulator).shared.chats['6591110002@s.whatsapp.net']?.pinnedAtMs).toBeGreaterThan(0);
    await client.connect();
    await client.text('waits over the restart');
    await client.send('6591110002@s.whatsapp.net', { text: 'still linked' });
    expect(await bob.wait({ text: 'still linked' }, 5000)).toBeDefined();
    await client.socket.chatModify({ pin: false }, '6591110002@s.whatsapp.net');
    expect(alicePhone(simulator).shared.chats['6591110002@s.whatsapp.net']?.pinnedAtMs).toBe(0);
    await bob.sendText(group.jid, 'the group goes on');
    await client.text('the group goes on');
    expect(bob.unreadable.size).toBe(0);
    await client.end();
    await simulator.stop();
    await rm(dataDir, { recursive: true });
  });
});

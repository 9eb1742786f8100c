import { encodeWAMessage } from '@whiskeysockets/baileys';
import { scanCode, unlink } from '../linking/pairing.js';
import { routeReceipt } from '../delivery/receipts.js';
import { encodeContent } from '../phones/content.js';
import { requestResendFromAuthor } from '../phones/incoming.js';
import type { Phone } from '../phones/phone.js';
import { pad } from '../phones/signal.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { PHONE_SERVER } from '../wire/jid.js';
import { node } from '../wire/node.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001';
const BOB = '6591110002@s.whatsapp.net';

describe('what can go wrong', () => {
  let simulator: Simulator;
  let bob: Phone;
  let client: Client;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    const alice = network.accounts.add(ALICE, 'Alice');
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator);
    await client.link((qr) => scanCode(network, alice, qr));
  }, 120_000);

  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  const fault = async (body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${simulator.control}/faults`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(response.status).toBeLessThan(300);
    return ((await response.json()) as { id?: string }).id ?? '';
  };
  const undo = (id: string) => fetch(`${simulator.control}/faults/${id}`, { method: 'DELETE' });

  it('a corrupted message is requested again, by clients and by phones', async () => {
    await fault({ kind: 'corrupt-message', phone: ALICE, device: 1 });
    await bob.sendText(ALICE, 'broken on the way to the client');
    await client.text('broken on the way to the client');
    await fault({ kind: 'corrupt-message', phone: bob.account.phone });
    await client.send(BOB, { text: 'broken on the way to the phone' });
    expect(await bob.wait({ text: 'broken on the way to the phone' }, 10_000)).toBeDefined();
  });

  it('a corrupted message is unreadable even when it begins a session', async () => {
    const { network, phones } = simulator;
    const stranger = phones.of(network.accounts.add());
    await fault({ kind: 'corrupt-message', phone: bob.account.phone, count: 1 });
    const { id } = await stranger.sendText(BOB, 'broken at the first word');
    expect(await bob.wait({ id }, 8000)).toMatchObject({ text: 'broken at the first word' });
    expect(network.resendsRequested.has(id)).toBe(true);
  });

  it('a phone that sends a client another copy still reads what the client had on its way', async () => {
    const { network, phones } = simulator;
    const account = network.accounts.byNumber(ALICE);
    if (!account) throw new Error('Alice is gone');
    const alice = phones.of(account);
    await client.send(BOB, { text: 'the session is begun' });
    await alice.wait({ text: 'the session is begun' }, 8000);
    const { id } = await alice.sendText(BOB, 'and answered');
    await client.text('and answered');
    const data = encodeWAMessage({
      deviceSentMessage: { destinationJid: BOB, message: { conversation: 'on its way' } },
    });
    const { type, ciphertext } = await client.socket.signalRepository.encryptMessage({ jid: account.lidJid, data });
    expect(type).toBe('msg');
    const requester = { account, device: 1 };
    const place = { to: account.phoneJid, recipient: BOB };
    routeReceipt(
      network,
      requester,
      node('receipt', { id, type: 'retry', ...place }, [node('retry', { id, count: '1' })]),
    );
    await alice.idle();
    const from = account.jidLike(PHONE_SERVER, 1);
    const enc = node('enc', { v: '2', type }, ciphertext);
    network.deliver(account, 0, node('message', { id: 'ON-ITS-WAY', from, recipient: BOB, type: 'text' }, [enc]));
    await alice.idle();
    expect([...alice.unreadable.keys()]).toEqual([]);
    expect(alice.messages.get('ON-ITS-WAY')).toMatchObject({ text: 'on its way', fromMe: true });
    const next = await alice.sendText(BOB, 'in the new session');
    await client.text('in the new session');
    expect(network.resendsRequested.has(next.id)).toBe(false);
  });

  it('a question to the own phone in a session that the client has spoiled stays unread, and the next one is answered', async () => {
    const { network, phones } = simulator;
    const account = network.accounts.byNumber(ALICE);
    if (!account) throw new Error('Alice is gone');
    const alice = phones.of(account);
    const { key } = await client.send(BOB, { text: 'sent before' });
    await alice.wait({ text: 'sent before' }, 8000);
    const to = { account, device: 1 };
    const onItsWay = { deviceSentMessage: { destinationJid: BOB, message: { conversation: 'in the older session' } } };
    const enc = await alice.sessions.encrypt(to, pad(encodeContent(onItsWay)));
    await client.socket.assertSessions([account.lidJid], true);
    // The library tries the newer session first, in vain, and stores it with its ratchet moved.
    const place = { from: account.phoneJid, recipient: BOB, type: 'text', t: network.timestamp() };
    network.deliver(account, 1, node('message', { id: 'IN-THE-OLDER', ...place }, [enc]));
    await client.text('in the older session');

    const ask = () => client.socket.fetchMessageHistory(1, { ...key, remoteJid: BOB }, Date.now());
    const resendsRequested = new Promise((resolve) => client.socket.ws.once('CB:receipt', resolve));
    const lost = await ask();
    await resendsRequested;
    expect(alice.unreadable.get(lost)).toEqual({ requests: 1, isPeerRequest: true });
    await account.devices.get(1)?.queue.whenEmpty();
    const session = await ask();
    await client.until(
      () =>
        client
          .eventsOf('messaging-history.set')
          .some(({ peerDataRequestSessionId }) => peerDataRequestSessionId === session),
      'the answer',
    );
  });

  it('a phone requests again from its own client what the client wrote', async () => {
    const { network, phones } = simulator;
    const account = network.accounts.byNumber(ALICE);
    if (!account) throw new Error('Alice is gone');
    const alice = phones.of(account);
    const { key } = await client.send(BOB, { text: 'of our own' });
    await alice.wait({ text: 'of our own' }, 8000);
    const again = new Promise<number>((resolve) => {
      alice.messages.watch(({ id, deliveries }) => (id === key.id && deliveries > 1 ? resolve(deliveries) : undefined));
    });
    requestResendFromAuthor(alice, { id: key.id ?? '', author: { account, device: 1 }, chat: BOB });
    expect(await again).toBe(2);
  });

  it('a phone reads what a device had sent before it was unlinked', async () => {
    const { network, phones } = simulator;
    const account = network.accounts.add('6591110003', 'Carol');
    const carol = phones.of(account);
    const leaving = new Client(simulator);
    await leaving.link((qr) => scanCode(network, account, qr));
    await leaving.send(BOB, { text: 'the session is begun' });
    await carol.wait({ text: 'the session is begun' }, 8000);
    await carol.sendText(BOB, 'and answered');
    await leaving.text('and answered');
    const message = { deviceSentMessage: { destinationJid: BOB, message: { conversation: 'the last word' } } };
    const { type, ciphertext } = await leaving.socket.signalRepository.encryptMessage({
      jid: account.lidJid,
      data: encodeWAMessage(message),
    });
    const from = account.jidLike(PHONE_SERVER, 1);
    const enc = node('enc', { v: '2', type }, ciphertext);
    network.deliver(account, 0, node('message', { id: 'LAST-WORD', from, recipient: BOB, type: 'text' }, [enc]));
    const device = account.devices.get(1);
    if (device) unlink(network, device);
    await carol.idle();
    expect([...carol.unreadable.keys()]).toEqual([]);
    expect(carol.messages.get('LAST-WORD')).toMatchObject({ text: 'the last word' });
    expect(carol.sessions.isOpen({ account, device: 1 })).toBe(false);
    await leaving.end();
  });

  it('an edit that overtakes its message takes effect when the message comes', async () => {
    const account = simulator.network.accounts.byNumber(ALICE);
    if (!account) throw new Error('Alice is gone');
    const alice = simulator.phones.of(account);
    await fault({ kind: 'corrupt-message', phone: ALICE, device: 0 });
    const sent = bob.sendText(ALICE, 'as it was', { id: 'OVERTAKEN' });
    // Before anybody can request another copy of the first.
    await bob.sendDraft(ALICE, { edit: { id: 'OVERTAKEN', text: 'as it is' } });
    await sent;
    expect(await alice.wait({ id: 'OVERTAKEN', text: 'as it is' }, 8000)).toMatchObject({ edited: true });
  });

  it('a doubled message shows once', async () => {
    await fault({ kind: 'duplicate-message', phone: ALICE, device: 1 });
    await bob.sendText(ALICE, 'twice');
    await bob.sendText(ALICE, 'after twice');
    await client.text('after twice');
    expect(client.messages.filter(({ message }) => message.message?.conversation === 'twice').length).toBe(1);
    await fault({ kind: 'duplicate-message', phone: bob.account.phone });
    const sent = await client.send(BOB, { text: 'twice to the phone' });
    await bob.wait({ id: sent.key.id ?? '' }, 8000);
    await bob.idle();
    expect(bob.messages.get(sent.key.id ?? '')?.deliveries).toBe(2);
  });

  it('a placeholder is filled by the own phone', async () => {
    await fault({ kind: 'placeholder', phone: ALICE, device: 1 });
    const sent = await bob.sendText(ALICE, 'only a placeholder at first');
    await client.message(
      ({ key, messageStubType }) => key.id === sent.id && Boolean(messageStubType),
      'the placeholder',
    );
    await client.text('only a placeholder at first');
  });

  it('receipts get lost', async () => {
    await fault({ kind: 'lose-receipts', phone: bob.account.phone, count: 1 });
    const lost = await client.send(BOB, { text: 'no receipt' });
    await bob.wait({ text: 'no receipt' }, 8000);
    const other = await client.send(BOB, { text: 'receipt' });
    await client.status(other.key.id ?? '', 3);
    expect(client.updates.some(({ key, update }) => key.id === lost.key.id && Number(update.status) >= 3)).toBe(false);
  });

  it('a slow connection delays the queries of a client, in order', async () => {
    const id = await fault({ kind: 'delay', phone: ALICE, ms: 120, jitterMs: 30 });
    const started = Date.now();
    await client.socket.onWhatsApp('6591110002');
    expect(Date.now() - started).toBeGreaterThanOrEqual(115);
    await undo(id);
  });

  it('the next question is refused with a chosen error', async () => {
    await fault({ kind: 'refuse-iq', phone: ALICE, xmlns: 'status', code: 429, text: 'rate-overlimit' });
    await expect(client.socket.updateProfileStatus('x')).rejects.toMatchObject({
      message: 'rate-overlimit',
      data: 429,
    });
    await client.socket.updateProfileStatus('y');
  });

  it('a silent line ends with the client giving up', async () => {
    await client.end();
    const quick = new Client(simulator, { keepAliveIntervalMs: 1000 });
    Object.assign(quick, { auth: client.auth });
    await quick.connect();
    const closed = quick.closed();
    const id = await fault({ kind: 'silence', phone: ALICE });
    expect(await closed).toBe(408);
    await undo(id);
    await client.connect();
  });

  it('a client uploads pre-keys and queries groups when notified, and repeats its edge routing', async () => {
    const { network } = simulator;
    const device = network.accounts.byNumber(ALICE)?.devices.get(1);
    const before = device?.preKeys.count ?? 0;
    const nudge = (what: string) =>
      fetch(`${simulator.control}/phones/${ALICE}/devices/1/nudge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ what }),
      });
    await nudge('groups-dirty');
    await client.until(() => client.eventsOf('groups.update').length > 0, 'the groups');
    await nudge('pre-keys-low');
    await device?.queue.whenEmpty();
    await client.socket.uploadPreKeysToServerIfRequired();
    expect(device?.preKeys.count).toBeGreaterThanOrEqual(before);
    await client.until(() => client.auth.creds.routingInfo, 'the routing');
    await client.end();
    await client.connect();
    const connection = device && simulator.network.connections.of(device);
    expect(connection?.edgeRouting?.toString()).toBe(device?.key);
  });

  it('survives a storm of reconnects', async () => {
    const closed = client.closed();
    await fault({ kind: 'storm', phone: ALICE, times: 3, everyMs: 50 });
    await closed;
    await bob.sendText(ALICE, 'through the storm');
    const received = client.text('through the storm').then(() => true);
    // The storm may drop a connection that has just opened: connected again until the message is here.
    for (let isThrough = false; !isThrough;) {
      const dropped = client.closed().then(
        () => false,
        () => false,
      );
      const isOpen = await client.connect().then(
        () => true,
        () => false,
      );
      isThrough = isOpen && (await Promise.race([received, dropped]));
    }
  });

  it('outdated and banned clients are notified of it', async () => {
    const closed = client.closed();
    await fault({ kind: 'drop', phone: ALICE });
    await closed;
    await fault({ kind: 'refuse-connection', phone: ALICE, code: 405 });
    await expect(client.connect()).rejects.toMatchObject({ output: { statusCode: 405 } });
    const id = await fault({ kind: 'ban', phone: ALICE });
    await expect(client.connect()).rejects.toMatchObject({ output: { statusCode: 403 } });
    await undo(id);
    await client.connect();
  });
});

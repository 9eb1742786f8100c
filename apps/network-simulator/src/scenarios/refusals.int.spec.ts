import { Agent } from 'node:https';
import type { WASocket } from '@whiskeysockets/baileys';
import { scanCode } from '../linking/pairing.js';
import { takePreKey } from '../network/pre-key-supply.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001';
const BOB = '6591110002@s.whatsapp.net';
const NOBODY = '6590000000@s.whatsapp.net';

const unknownQuery = {
  tag: 'iq',
  attrs: { to: '@s.whatsapp.net', type: 'get', xmlns: 'w:unheard' },
  content: [{ tag: 'something', attrs: {} }],
};

describe('what the network refuses, ends and requests', () => {
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

  const fault = (body: object) =>
    fetch(`${simulator.control}/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const refusalOf = async (to: string, text: string): Promise<string | undefined> => {
    const id = client.newId();
    const ack = client.acknowledged(id, 8000);
    await client.send(to, { text }, { messageId: id });
    return (await ack)?.['error'];
  };

  it.each([463, 479, 403, 404])('a send is refused with %i, and nobody gets it', async (code) => {
    await fault({ kind: 'refuse-send', phone: ALICE, code });
    expect(await refusalOf(BOB, `refused with ${code}`)).toBe(String(code));
    expect(await refusalOf(BOB, `accepted after ${code}`)).toBeUndefined();
    await bob.wait({ text: `accepted after ${code}` }, 8000);
    expect(bob.messages.all({ text: `refused with ${code}` })).toEqual([]);
  });

  it.each<[string, (socket: WASocket) => Promise<unknown>]>([
    ['communities', (socket) => socket.communityCreate('A community', 'of groups')],
    ['business profiles', (socket) => socket.updateBussinesProfile({ description: 'A shop' })],
    ['catalogues', (socket) => socket.getCatalog({ jid: BOB })],
    ['an unknown namespace', (socket) => socket.query(unknownQuery)],
  ])('what is not simulated is refused as such: %s', async (_what, query) => {
    await expect(query(client.socket)).rejects.toMatchObject({ data: 501, message: 'feature-not-implemented' });
    expect([...simulator.network.groups.all()]).toEqual([]);
  });

  it('what is not simulated is a GraphQL error, where clients query in GraphQL', async () => {
    await expect(client.socket.newsletterCreate('News')).rejects.toMatchObject({
      message: 'GraphQL server error: This query is not simulated.',
      output: { statusCode: 501 },
    });
    expect(await client.socket.fetchAccountReachoutTimelock()).toMatchObject({ isActive: false });
  });

  it('a requested copy is not refused: the next message is', async () => {
    await fault({ kind: 'corrupt-message', phone: bob.account.phone });
    // Between the acknowledgement and the copy there is time to set the fault.
    await fault({ kind: 'delay', phone: ALICE, ms: 1500, count: 6 });
    expect(await refusalOf(BOB, 'broken, then sent again')).toBeUndefined();
    await fault({ kind: 'refuse-send', phone: ALICE, code: 463 });
    expect(await bob.wait({ text: 'broken, then sent again' }, 20_000)).toBeDefined();
    for (const { id } of simulator.network.faults.all().filter(({ kind }) => kind === 'delay')) {
      simulator.network.faults.remove(id);
    }
    expect(await refusalOf(BOB, 'a new message')).toBe('463');
  });

  it('a number that does not exist is refused with 404', async () => {
    expect(await refusalOf(NOBODY, 'is anybody there')).toBe('404');
  });

  it.each([
    [{ code: 500 }, 500],
    [{ code: 503 }, 503],
    [{ conflict: 'replaced' }, 440],
    [{ code: 401, conflict: 'device_removed' }, 401],
  ])('a stream ends with %j, which a client reads as %i', async (how, status) => {
    const closed = client.closed();
    await fault({ kind: 'drop', phone: ALICE, ...how });
    expect(await closed).toBe(status);
    await client.connect();
  });

  it('more one-time keys are requested of a device when they run low, and it uploads them', async () => {
    const device = simulator.network.accounts.byNumber(ALICE)?.devices.get(1);
    if (!device) throw new Error('not linked');
    const uploaded = device.preKeys.count;
    const handedOut = new Set<number>();
    while (device.preKeys.count >= 5) handedOut.add(takePreKey(simulator.network, device)?.id ?? 0);
    expect(handedOut.size).toBe(uploaded - 4);
    // The client confirms the request when it has fulfilled it.
    await device.queue.whenEmpty();
    expect(device.preKeys.count).toBeGreaterThan(4);
    const fresh = takePreKey(simulator.network, device);
    expect(handedOut.has(fresh?.id ?? 0)).toBe(false);
  });

  it('own devices alone are notified of reading unseen', async () => {
    const { network, phones } = simulator;
    const alice = phones.of(network.accounts.byNumber(ALICE) ?? network.accounts.add());
    const receipts = async (who: 'none' | 'all'): Promise<void> => {
      await client.socket.updateReadReceiptsPrivacy(who);
      // The library goes by the last setting it got.
      expect(await client.socket.fetchPrivacySettings(true)).toMatchObject({ readreceipts: who });
    };
    await receipts('none');
    const sent = await bob.sendText(ALICE, 'read unseen');
    const { key } = await client.text('read unseen');
    await client.socket.readMessages([key]);
    expect(await alice.wait({ id: sent.id, status: 'read' }, 8000)).toBeDefined();
    await receipts('all');
    const other = await bob.sendText(ALICE, 'read openly');
    await client.socket.readMessages([(await client.text('read openly')).key]);
    expect(await bob.wait({ id: other.id, status: 'read' }, 8000)).toBeDefined();
    expect(bob.messages.get(sent.id)?.status).toBe('delivered');
  });
});

describe('other ways in', () => {
  let simulator: Simulator;

  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.stop());

  it('a client links and talks over wss on any path, trusting the own certificate', async () => {
    const { network, phones } = simulator;
    const alice = network.accounts.add(ALICE, 'Alice');
    const bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    const secure = { waWebSocketUrl: simulator.control.replace('http', 'wss') + '/some/other/path' };
    const client = new Client(simulator, { ...secure, agent: new Agent({ ca: simulator.certificate }) });
    await client.link((qr) => scanCode(network, alice, qr));
    await bob.sendText(ALICE, 'over TLS');
    await client.text('over TLS');
    await client.send(BOB, { text: 'and back' });
    expect(await bob.wait({ text: 'and back' }, 8000)).toBeDefined();
    await client.end();

    const trusting = new Client(simulator, secure);
    trusting.start();
    const status = await trusting.closed();
    expect(status).not.toBe(401);
    expect(trusting.eventsOf('connection.update').some(({ qr }) => qr)).toBe(false);
    await trusting.end();
  });

  it('the mock phone that scans is the number a client has as its push name, made if need be', async () => {
    const { network } = simulator;
    const scanned = async (qr: string): Promise<{ phone: string; device: number }> => {
      const answer = await fetch(`${simulator.control}/admin/mock-phone/scan-qr`, { method: 'POST', body: qr });
      return (await answer.json()) as { phone: string; device: number };
    };
    for (const device of [1, 2]) {
      const client = new Client(simulator);
      const code = await client.code();
      // The library names nobody when it registers; other clients put a number there.
      for (const { connection } of network.pairingCodes.waiting()) connection.payload.pushName = '6597654321';
      const closed = client.closed();
      expect(await scanned(code)).toMatchObject({ phone: '6597654321', device });
      await closed;
      await client.connect();
      await client.end();
    }
    const client = new Client(simulator);
    const made = await scanned(await client.code());
    expect(made).toMatchObject({ device: 1 });
    expect(made.phone).not.toBe('6597654321');
    await client.end();
  });
});

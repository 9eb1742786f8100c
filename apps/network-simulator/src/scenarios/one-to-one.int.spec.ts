import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { scanCode } from '../linking/pairing.js';
import type { Phone } from '../phones/phone.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('one number linked, sending and receiving', () => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let client: Client;
  const open: Client[] = [];

  const linked = async (phone: Phone): Promise<Client> => {
    const made = new Client(simulator);
    open.push(made);
    await made.link((qr) => scanCode(simulator.network, phone.account, qr));
    return made;
  };

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = await linked(alice);
  }, 120_000);

  afterAll(async () => {
    for (const one of open) await one.end();
    await simulator.stop();
  });

  it('learns its own name from the shared state', async () => {
    await client.until(() => client.auth.creds.me?.name === 'Alice', 'the name');
    expect(client.jid).toBe('6591110001:1@s.whatsapp.net');
  });

  it('sends a text that a phone reads, and sees it delivered and read', async () => {
    const sent = await client.send('6591110002@s.whatsapp.net', { text: 'hello bob' });
    const id = sent.key.id ?? '';
    const got = await bob.wait({ id }, 5000);
    expect(got).toMatchObject({ text: 'hello bob', from: '6591110001@s.whatsapp.net', fromMe: false, deliveries: 1 });
    await client.status(id, 3);
    bob.read('6591110001@s.whatsapp.net');
    await client.status(id, 4);
    const copy = await alice.wait({ id, status: 'read' }, 5000);
    expect(copy).toMatchObject({ text: 'hello bob', fromMe: true, chat: '6591110002@s.whatsapp.net' });
  });

  it('receives a text of a phone', async () => {
    const sent = await bob.sendText('6591110001', 'hello alice');
    const got = await client.text('hello alice');
    expect(got.key).toMatchObject({ id: sent.id, remoteJid: '6591110002@s.whatsapp.net', fromMe: false });
    await bob.wait({ id: sent.id, status: 'delivered' }, 5000);
    await client.socket.readMessages([got.key]);
    expect(await bob.wait({ id: sent.id, status: 'read' }, 5000)).toBeDefined();
    expect(await alice.wait({ id: sent.id, status: 'read' }, 5000)).toBeDefined();
  });

  it('receives what its own phone sends', async () => {
    const sent = await alice.sendText('6591110002', 'from my phone');
    const got = await client.text('from my phone');
    expect(got.key).toMatchObject({ id: sent.id, remoteJid: '6591110002@s.whatsapp.net', fromMe: true });
    await bob.wait({ id: sent.id }, 5000);
  });

  it('talks to another client, by number and by private id', async () => {
    const other = await linked(bob);
    const first = await client.send('6591110002@s.whatsapp.net', { text: 'client to client' });
    await other.text('client to client');
    await client.status(first.key.id ?? '', 3);
    await other.send(`${alice.account.lid}@lid`, { text: 'back by lid' });
    const got = await client.text('back by lid');
    expect(got.key).toMatchObject({
      remoteJid: `${bob.account.lid}@lid`,
      remoteJidAlt: '6591110001@s.whatsapp.net'.replace('0001', '0002'),
    });
    expect((await alice.wait({ text: 'back by lid' }, 5000))?.chat).toBe('6591110002@s.whatsapp.net');
  });

  it('writes to itself', async () => {
    const sent = await client.send('6591110001@s.whatsapp.net', { text: 'note to self' });
    expect(await alice.wait({ id: sent.key.id ?? '' }, 5000)).toMatchObject({ fromMe: true, text: 'note to self' });
  });
});

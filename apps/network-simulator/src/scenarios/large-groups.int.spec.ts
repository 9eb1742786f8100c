import { addMembers, createGroup, MAX_MEMBERS } from '../groups/group-members.js';
import { joinByCode } from '../groups/joining.js';
import { scanCode } from '../linking/pairing.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

const GROUPS = 400;
/** Each costs a session and decryptions. The benchmark of groups writes to 1,024. */
const READERS = 100;

describe('groups in great number and of great size', () => {
  let simulator: Simulator;
  let alice: Phone;
  let client: Client;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    client = new Client(simulator);
    await client.link((qr) => scanCode(network, alice.account, qr));
  }, 120_000);

  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  const members = (count: number) => Array.from({ length: count }, () => simulator.network.accounts.add().phoneJid);

  it('a group takes 1,024 members, names them all to a client, and refuses one more', async () => {
    const { network } = simulator;
    const { group } = createGroup(network, alice.account, 'Town', members(MAX_MEMBERS - 1));
    const metadata = await client.socket.groupMetadata(group.jid);
    expect(metadata.size).toBe(1024);
    expect(new Set(metadata.participants.map(({ id }) => id)).size).toBe(1024);
    expect(metadata.participants.every(({ id, phoneNumber }) => id.endsWith('@lid') && phoneNumber)).toBe(true);
    const [late = ''] = members(1);
    expect(addMembers(network, group, alice.account, [late])[0]?.error).toBe(403);
    const latecomer = network.accounts.find(late);
    if (!latecomer) throw new Error('no account');
    expect(() => joinByCode(network, latecomer, group.state.inviteCode)).toThrow('resource-limit');
    expect((await client.socket.groupMetadata(group.jid)).size).toBe(1024);
  });

  it('a client writes into a group of 100 members, and every one of them reads it once', async () => {
    const { network, phones } = simulator;
    const { group } = createGroup(network, alice.account, 'City', members(READERS - 1));
    const everybody = group.memberLids.flatMap((lid) => network.accounts.find(`${lid}@lid`) ?? []);
    expect(everybody.length).toBe(READERS);
    const sent = await client.send(group.jid, { text: 'to the whole city' });
    const id = sent.key.id ?? '';
    for (const account of everybody) {
      const message = await phones.of(account).wait({ id }, 60_000);
      expect(message).toMatchObject({ text: 'to the whole city', chat: group.jid, fromMe: account === alice.account });
    }
    const again = await client.send(group.jid, { text: 'once more, with the keys in place' });
    for (const account of everybody) {
      const phone = phones.of(account);
      expect(await phone.wait({ id: again.key.id ?? '' }, 60_000)).toMatchObject({ deliveries: 1 });
      expect(phone.messages.all({ chat: group.jid }).length).toBe(2);
      expect(phone.unreadable.size).toBe(0);
    }
    // What comes while the message's own event is still buffered is merged into it.
    const readers = () => [
      ...client
        .eventsOf('message-receipt.update')
        .flat()
        .filter(({ key }) => key.id === id)
        .map(({ receipt }) => receipt),
      ...client.messages.flatMap(({ message }) => (message.key.id === id ? (message.userReceipt ?? []) : [])),
    ];
    await client.until(
      () => new Set(readers().map(({ userJid }) => userJid)).size === READERS - 1,
      'the receipts of all',
    );
  });

  it('a client lists 400 groups at once', async () => {
    const others = members(4);
    for (let index = 0; index < GROUPS; index++)
      createGroup(simulator.network, alice.account, `Group ${index}`, others);
    const subjects = Object.values(await client.socket.groupFetchAllParticipating()).map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.startsWith('Group ')).length).toBe(GROUPS);
  });
});

import { addMembers, createGroup, setRole } from '../groups/group-members.js';
import type { Group } from '../network/group.js';
import { scanCode } from '../linking/pairing.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

describe.each(['lid', 'pn'] as const)('groups whose admins approve who joins, members named by %s', (addressing) => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let carol: Phone;
  let admin: Client;
  let member: Client;
  let group: Group;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    carol = phones.of(network.accounts.add('6591110003', 'Carol'));
    const link = async ({ account }: Phone): Promise<Client> => {
      const client = new Client(simulator);
      await client.link((qr) => scanCode(network, account, qr));
      return client;
    };
    admin = await link(alice);
    member = await link(bob);
  }, 120_000);

  beforeEach(async () => {
    group = createGroup(simulator.network, alice.account, 'Door', [bob.account.phoneJid], addressing).group;
    await admin.socket.groupJoinApprovalMode(group.jid, 'on');
  });

  afterAll(async () => {
    await admin.end();
    await member.end();
    await simulator.stop();
  });

  const call = async (method: string, path: string, body?: object): Promise<{ status: number; json: unknown }> => {
    const response = await fetch(simulator.control + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  };
  const requestsToJoin = (phone: Phone) =>
    call('POST', `/phones/${phone.account.phone}/join`, { code: group.state.inviteCode });
  const requestsAt = (client: Client) => client.eventsOf('group.join-request').filter(({ id }) => id === group.jid);
  const noticed = (action: string) =>
    admin.until(() => requestsAt(admin).find((request) => request.action === action), `the request, ${action}`);
  const wire = (phone: Phone) => phone.account.jidLike(addressing === 'lid' ? 'lid' : 's.whatsapp.net');
  const waitingAt = async () => (await admin.socket.groupRequestParticipantsList(group.jid)).map(({ jid }) => jid);
  /** What a member's devices were sent so far has arrived, once they have received what came after it. */
  const receivedEverything = async (client: Client): Promise<void> => {
    await call('PATCH', `/phones/${alice.account.phone}/groups/${group.jid}`, { subject: 'Received' });
    await client.until(
      () =>
        client
          .eventsOf('groups.update')
          .flat()
          .some(({ id, subject }) => id === group.jid && subject === 'Received'),
      'the subject',
    );
  };

  it('joining by the link requests it of the admins, whose devices alone are notified, once', async () => {
    expect(await admin.socket.groupMetadata(group.jid)).toMatchObject({ joinApprovalMode: true });
    const joined = await requestsToJoin(carol);
    expect(joined).toMatchObject({ status: 200, json: { waiting: [{ phone: carol.account.phone }] } });
    expect(await noticed('created')).toMatchObject({
      author: wire(carol),
      participant: wire(carol),
      participantPn: addressing === 'lid' ? carol.account.phoneJid : undefined,
      method: 'invite_link',
    });
    expect(
      await alice.events.wait({ kind: 'group', what: 'created_membership_requests', chat: group.jid }, 8000),
    ).toMatchObject({ from: carol.account.phoneJid, details: { participants: carol.account.phoneJid } });
    expect(group.has(carol.account.lid)).toBe(false);
    expect(await waitingAt()).toEqual([wire(carol)]);

    expect((await requestsToJoin(carol)).status).toBe(200);
    expect(await waitingAt()).toEqual([wire(carol)]);
    await receivedEverything(admin);
    await receivedEverything(member);
    expect(requestsAt(admin).length).toBe(1);
    expect(requestsAt(member)).toEqual([]);
  });

  it('a client that joins by the link makes a request, too', async () => {
    const { group: other } = createGroup(simulator.network, carol.account, 'Other door', [], addressing);
    expect(
      (
        await call('PATCH', `/phones/${carol.account.phone}/groups/${other.jid}`, {
          approval: true,
        })
      ).json,
    ).toMatchObject({ approval: true, waiting: [] });
    await member.socket.groupAcceptInvite(other.state.inviteCode);
    expect(other.has(bob.account.lid)).toBe(false);
    expect(
      await carol.events.wait({ kind: 'group', what: 'created_membership_requests', chat: other.jid }, 8000),
    ).toMatchObject({ from: bob.account.phoneJid });
  });

  it('an admin lets in and turns away, by a client', async () => {
    const dave = simulator.phones.of(simulator.network.accounts.add());
    await requestsToJoin(carol);
    await requestsToJoin(dave);
    expect(await waitingAt()).toEqual([wire(carol), wire(dave)]);
    const { socket } = admin;
    const [approved] = await socket.groupRequestParticipantsUpdate(group.jid, [wire(carol)], 'approve');
    const [rejected] = await socket.groupRequestParticipantsUpdate(group.jid, [wire(dave)], 'reject');
    expect([approved?.status, rejected?.status]).toEqual(['200', '200']);
    expect([group.has(carol.account.lid), group.has(dave.account.lid)]).toEqual([true, false]);
    expect(await waitingAt()).toEqual([]);
    expect(await carol.events.wait({ kind: 'group', what: 'create', chat: group.jid }, 8000)).toBeDefined();
    expect(await noticed('rejected')).toMatchObject({ author: wire(alice), participant: wire(dave) });
    const [late] = await socket.groupRequestParticipantsUpdate(group.jid, [wire(dave)], 'approve');
    expect(late?.status).toBe('404');
    await expect(
      member.socket.groupRequestParticipantsUpdate(group.jid, [wire(dave)], 'approve'),
    ).rejects.toMatchObject({ data: 403 });
  });

  it('an admin approves by the phone; the requester withdraws', async () => {
    const dave = simulator.phones.of(simulator.network.accounts.add());
    await requestsToJoin(carol);
    await requestsToJoin(dave);
    const path = (phone: Phone) => `/phones/${phone.account.phone}/groups/${group.jid}/requests`;
    expect((await call('DELETE', path(dave))).status).toBe(200);
    expect((await call('DELETE', path(dave))).status).toBe(404);
    expect(await noticed('revoked')).toMatchObject({ author: wire(dave), participant: wire(dave) });
    const decision = { action: 'approve', members: [carol.account.phone, dave.account.phone] };
    expect((await call('POST', path(bob), decision)).status).toBe(403);
    expect((await call('POST', path(alice), decision)).json).toEqual([
      { phone: carol.account.phone, status: 200 },
      { phone: dave.account.phoneJid, status: 404 },
    ]);
    await member.until(
      () =>
        member
          .eventsOf('group-participants.update')
          .some(({ id, action, participants }) => id === group.jid && action === 'add' && participants.length === 1),
      'the new member',
    );
    expect(group.has(carol.account.lid)).toBe(true);
  });

  it('who is added meanwhile has no request any more, and those who are admins by then are notified of the next', async () => {
    await requestsToJoin(carol);
    addMembers(simulator.network, group, alice.account, [carol.account.phoneJid]);
    expect(await waitingAt()).toEqual([]);
    setRole(simulator.network, group, alice.account, [bob.account.phoneJid], 'admin');
    const dave = simulator.phones.of(simulator.network.accounts.add());
    await requestsToJoin(dave);
    await member.until(() => requestsAt(member).some(({ participant }) => participant === wire(dave)), 'the request');
  });
});

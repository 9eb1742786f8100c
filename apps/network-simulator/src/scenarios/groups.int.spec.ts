import { addMembers, createGroup, removeMembers } from '../groups/group-members.js';
import { joinByCode } from '../groups/joining.js';
import { scanCode } from '../linking/pairing.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { child, type Node } from '../wire/node.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

describe.each(['lid', 'pn'] as const)('groups whose members are named by %s', (addressing) => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let carol: Phone;
  let first: Client;
  let second: Client;

  const link = async (phone: Phone): Promise<Client> => {
    const client = new Client(simulator);
    await client.link((qr) => scanCode(simulator.network, phone.account, qr));
    return client;
  };

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    carol = phones.of(network.accounts.add('6591110003', 'Carol'));
    first = await link(alice);
    second = await link(bob);
  }, 120_000);

  afterAll(async () => {
    await first.end();
    await second.end();
    await simulator.stop();
  });

  it('everybody reads what clients and phones write, later members too', async () => {
    const { network, phones } = simulator;
    const members = [bob.account.phoneJid, carol.account.phoneJid];
    const { group } = createGroup(network, alice.account, 'Trip', members, addressing);
    await second.until(
      () =>
        second
          .eventsOf('groups.upsert')
          .flat()
          .some(({ id }) => id === group.jid),
      'the group',
    );
    const sent = await first.send(group.jid, { text: 'from a client' });
    const id = sent.key.id ?? '';
    expect(await carol.wait({ id }, 5000)).toMatchObject({
      text: 'from a client',
      chat: group.jid,
      from: alice.account.phoneJid,
    });
    expect(await alice.wait({ id }, 5000)).toMatchObject({ fromMe: true, chat: group.jid });
    const read = await second.text('from a client');
    expect(read.key.participant).toBe(alice.account.jidLike(addressing === 'lid' ? 'lid' : 's.whatsapp.net'));
    await carol.sendText(group.jid, 'from a phone');
    await first.text('from a phone');
    await second.text('from a phone');
    expect(await bob.wait({ text: 'from a phone' }, 5000)).toBeDefined();

    const dave = phones.of(network.accounts.add(undefined, 'Dave'));
    addMembers(network, group, alice.account, [dave.account.phoneJid]);
    await first.until(
      () =>
        first.eventsOf('group-participants.update').some(({ action, id: at }) => action === 'add' && at === group.jid),
      'the addition',
    );
    await first.send(group.jid, { text: 'welcome' });
    expect(await dave.wait({ text: 'welcome' }, 5000)).toBeDefined();
    await carol.sendText(group.jid, 'hello dave');
    expect(await dave.wait({ text: 'hello dave' }, 5000)).toBeDefined();
    await second.send(group.jid, { text: 'second client' });
    await first.text('second client');
    expect(await dave.wait({ text: 'second client' }, 5000)).toBeDefined();
    removeMembers(network, group, alice.account, [dave.account.phoneJid]);
    await carol.sendText(group.jid, 'dave is gone');
    await first.text('dave is gone');
    expect(dave.messages.all({ text: 'dave is gone' })).toEqual([]);
  });

  it('notifies the author of who has got and read a message', async () => {
    const { group } = createGroup(simulator.network, alice.account, 'Receipts', [carol.account.phoneJid], addressing);
    const sent = await first.send(group.jid, { text: 'read me' });
    const id = sent.key.id ?? '';
    // What comes while the message's own event is still buffered is merged into it.
    const receipts = () => [
      ...first
        .eventsOf('message-receipt.update')
        .flat()
        .filter(({ key }) => key.id === id)
        .map(({ receipt }) => receipt),
      ...first.messages
        .filter(({ message }) => message.key.id === id)
        .flatMap(({ message }) => message.userReceipt ?? []),
    ];
    await first.until(() => receipts().some(({ receiptTimestamp }) => receiptTimestamp), 'delivery');
    await carol.wait({ id }, 5000);
    carol.read(group.jid);
    const reader = carol.account.jidLike(addressing === 'lid' ? 'lid' : 's.whatsapp.net');
    await first.until(
      () => receipts().some(({ userJid, readTimestamp }) => userJid === reader && readTimestamp),
      'reading',
    );
  });

  it('sends again what a member could not read', async () => {
    const { group } = createGroup(
      simulator.network,
      alice.account,
      'Retries',
      [carol.account.phoneJid, bob.account.phoneJid],
      addressing,
    );
    await carol.sendText(group.jid, 'one');
    await first.text('one');
    const store = first.auth.keys;
    const author = addressing === 'lid' ? `${carol.account.lid}_1--0` : `${carol.account.phone}--0`;
    for (const name of [`${group.jid}::${author.replace('--', '::')}`])
      await store.set({ 'sender-key': { [name]: null } });
    const lost = await carol.sendText(group.jid, 'two');
    expect((await first.text('two')).key.id).toBe(lost.id);

    await first.send(group.jid, { text: 'three' });
    await carol.wait({ text: 'three' }, 5000);
    const theirs = carol.groupSessions.snapshot().senderKeys;
    expect(Object.keys(theirs).length).toBeGreaterThan(0);
    carol.groupSessions.forgetAuthors(group.jid);
    await first.send(group.jid, { text: 'four' });
    expect(await carol.wait({ text: 'four' }, 8000)).toBeDefined();
    expect(carol.unreadable.size).toBe(0);
  });

  it("a client's own phone requests what it could not read, and gets it", async () => {
    const { network } = simulator;
    const { group } = createGroup(network, alice.account, 'Own', [carol.account.phoneJid], addressing);
    await first.send(group.jid, { text: 'one for our phone' });
    await alice.wait({ text: 'one for our phone' }, 8000);
    alice.groupSessions.forgetAuthors(group.jid);
    const { key } = await first.send(group.jid, { text: 'two for our phone' });
    expect(await alice.wait({ text: 'two for our phone' }, 8000)).toBeDefined();
    expect(network.resendsRequested.has(key.id ?? '')).toBe(true);
    expect(alice.unreadable.size).toBe(0);
  });

  it('when somebody leaves, a phone forgets its own key of the group, and not that of its client', async () => {
    const { network } = simulator;
    const members = [bob.account.phoneJid, carol.account.phoneJid];
    const { group } = createGroup(network, alice.account, 'Left', members, addressing);
    await first.send(group.jid, { text: 'for all three' });
    await alice.wait({ text: 'for all three' }, 8000);
    await alice.sendText(group.jid, 'our key for all three');
    const before = await alice.groupSessions.ownKey(group.jid);
    removeMembers(network, group, alice.account, [carol.account.phoneJid]);
    await alice.idle();
    const { key } = await first.send(group.jid, { text: 'for two' });
    expect(await alice.wait({ text: 'for two' }, 8000)).toBeDefined();
    expect(network.resendsRequested.has(key.id ?? '')).toBe(false);
    expect(await alice.groupSessions.ownKey(group.jid)).not.toEqual(before);
  });

  it('does all that admins do, through a client', async () => {
    const { socket } = first;
    const made = await socket.groupCreate('Club', [bob.account.phoneJid]);
    expect(made.subject).toBe('Club');
    const group = simulator.network.groups.find(made.id);
    if (!group) throw new Error('no group');
    group.state.addressing = addressing;
    await socket.groupUpdateSubject(made.id, 'Chess club');
    await socket.groupUpdateDescription(made.id, 'We play.');
    await socket.groupUpdateDescription(made.id, 'We play chess.');
    await socket.groupSettingUpdate(made.id, 'announcement');
    await socket.groupSettingUpdate(made.id, 'locked');
    await socket.groupMemberAddMode(made.id, 'admin_add');
    await socket.groupToggleEphemeral(made.id, 86_400);
    const metadata = await socket.groupMetadata(made.id);
    expect(metadata).toMatchObject({
      subject: 'Chess club',
      desc: 'We play chess.',
      announce: true,
      restrict: true,
      memberAddMode: false,
      ephemeralDuration: 86_400,
      size: 2,
    });
    carol.account.state.privacy['groupadd'] = 'none';
    const added = await socket.groupParticipantsUpdate(
      made.id,
      [carol.account.phoneJid, '6599999999@s.whatsapp.net', bob.account.phoneJid],
      'add',
    );
    expect(added.map(({ status }) => status)).toEqual(['403', '404', '409']);
    carol.account.state.privacy['groupadd'] = 'all';
    const promoted = await socket.groupParticipantsUpdate(made.id, [bob.account.phoneJid], 'promote');
    expect(promoted.map(({ status }) => status)).toEqual(['200']);
    await second.until(
      () => second.eventsOf('group-participants.update').some(({ action }) => action === 'promote'),
      'promotion',
    );
    await socket.groupParticipantsUpdate(made.id, [bob.account.phoneJid], 'demote');

    const code = await socket.groupInviteCode(made.id);
    expect(await second.socket.groupGetInviteInfo(code ?? '')).toMatchObject({ subject: 'Chess club' });
    const fresh = await socket.groupRevokeInvite(made.id);
    expect(fresh).not.toBe(code);
    expect(() => joinByCode(simulator.network, carol.account, code ?? '')).toThrow('item-not-found');
    joinByCode(simulator.network, carol.account, fresh ?? '');
    expect(await carol.events.wait({ kind: 'group', what: 'create', chat: made.id }, 5000)).toBeDefined();

    await expect(second.socket.groupUpdateSubject(made.id, 'No')).rejects.toMatchObject({ data: 403 });
    const refused = new Promise<{ attrs: Record<string, string> }>((resolve) =>
      second.socket.ws.once('CB:ack,class:message', resolve),
    );
    await second.send(made.id, { text: 'not allowed' });
    expect((await refused).attrs['error']).toBe('403');

    await socket.groupParticipantsUpdate(made.id, [carol.account.phoneJid], 'remove');
    expect(await carol.events.wait({ kind: 'group', what: 'remove', chat: made.id }, 5000)).toBeDefined();
    await second.socket.groupLeave(made.id);
    expect(Object.keys(await second.socket.groupFetchAllParticipating())).not.toContain(made.id);
    expect(Object.keys(await socket.groupFetchAllParticipating())).toContain(made.id);
  });

  it('members are notified of every change, and may make it as the settings allow', async () => {
    const { socket } = first;
    const { group } = createGroup(simulator.network, alice.account, 'Notified', [bob.account.phoneJid], addressing);
    const updated = (what: object) =>
      second.until(
        () =>
          second
            .eventsOf('groups.update')
            .flat()
            .some(
              (update) =>
                update.id === group.jid &&
                Object.entries(what).every(([key, value]) => Reflect.get(update, key) === value),
            ),
        JSON.stringify(what),
      );
    const members = (action: string) =>
      second.until(
        () =>
          second
            .eventsOf('group-participants.update')
            .find((update) => update.id === group.jid && update.action === action),
        action,
      );
    await socket.groupUpdateSubject(group.jid, 'For all');
    await updated({ subject: 'For all' });
    await socket.groupUpdateDescription(group.jid, 'What for');
    await updated({ desc: 'What for' });
    const deletion = new Promise<Node | undefined>((resolve) => {
      second.socket.ws.on('CB:notification,type:w:gp2', (notice: Node) => {
        const described = child(notice, 'description');
        if (described) resolve(child(described, 'delete'));
      });
    });
    await socket.groupUpdateDescription(group.jid);
    expect(await deletion).toBeDefined();
    expect(group.state.description).toBeUndefined();
    const versions: (string | undefined)[] = [];
    second.socket.ws.on('CB:notification,type:w:gp2', ({ content }: Node) => {
      for (const { tag, attrs } of content as Node[]) if (tag.endsWith('announcement')) versions.push(attrs['v_id']);
    });
    await socket.groupSettingUpdate(group.jid, 'announcement');
    await updated({ announce: true });
    await socket.groupSettingUpdate(group.jid, 'not_announcement');
    await updated({ announce: false });
    expect(versions).toEqual([expect.any(String), expect.any(String)]);
    expect(versions[0]).not.toBe(versions[1]);
    await socket.groupSettingUpdate(group.jid, 'locked');
    await updated({ restrict: true });
    await socket.groupSettingUpdate(group.jid, 'unlocked');
    await updated({ restrict: false });
    await socket.groupJoinApprovalMode(group.jid, 'on');
    await updated({ joinApprovalMode: true });
    await socket.groupJoinApprovalMode(group.jid, 'off');
    await updated({ joinApprovalMode: false });
    await socket.groupToggleEphemeral(group.jid, 604_800);
    await second.message(
      ({ key, message }) =>
        key.remoteJid === group.jid && Number(message?.protocolMessage?.ephemeralExpiration) === 604_800,
      'messages that disappear',
    );
    expect((await second.socket.groupMetadata(group.jid)).ephemeralDuration).toBe(604_800);
    const code = await socket.groupRevokeInvite(group.jid);
    await updated({ inviteCode: code });

    await socket.groupMemberAddMode(group.jid, 'admin_add');
    await updated({ memberAddMode: false });
    const add = () => second.socket.groupParticipantsUpdate(group.jid, [carol.account.phoneJid], 'add');
    await expect(add()).rejects.toMatchObject({ data: 403 });
    await socket.groupMemberAddMode(group.jid, 'all_member_add');
    await updated({ memberAddMode: true });
    expect((await add()).map(({ status }) => status)).toEqual(['200']);
    const server = addressing === 'lid' ? 'lid' : 's.whatsapp.net';
    const added = await members('add');
    expect(added.participants).toMatchObject([{ id: carol.account.jidLike(server) }]);
    expect(added.author).toBe(bob.account.jidLike(server));
    await socket.groupParticipantsUpdate(group.jid, [carol.account.phoneJid], 'promote');
    await members('promote');
    await socket.groupParticipantsUpdate(group.jid, [carol.account.phoneJid], 'demote');
    await members('demote');
    await socket.groupParticipantsUpdate(group.jid, [carol.account.phoneJid], 'remove');
    expect((await members('remove')).participants).toMatchObject([{ id: carol.account.jidLike(server) }]);
  });

  it.each(['added', 'joined by the link'])('who is %s gets the whole group, the others the newcomer', async (how) => {
    const { network } = simulator;
    const members = [carol.account.phoneJid];
    const { group } = createGroup(network, alice.account, `Newcomers: ${how}`, members, addressing);
    const notices: Node[] = [];
    second.socket.ws.on('CB:notification', (notice: Node) => {
      if (notice.attrs['from'] === group.jid) notices.push(notice);
    });
    if (how === 'added') addMembers(network, group, carol.account, [bob.account.phoneJid]);
    else await second.socket.groupAcceptInvite(group.state.inviteCode);
    const made = await second.until(
      () =>
        second
          .eventsOf('groups.upsert')
          .flat()
          .find(({ id }) => id === group.jid),
      'the group',
    );
    const by = how === 'added' ? carol : bob;
    expect(made.author).toBe(by.account.jidLike(addressing === 'lid' ? 'lid' : 's.whatsapp.net'));
    expect(made.participants.length).toBe(3);
    await first.until(
      () => first.eventsOf('group-participants.update').some(({ id, action }) => id === group.jid && action === 'add'),
      'the newcomer',
    );
    expect(notices.map((notice) => child(notice))).toMatchObject([
      { tag: 'create', attrs: how === 'added' ? {} : { reason: 'invite' }, content: [{ tag: 'group' }] },
    ]);
    expect(child(notices[0])?.attrs['type']).toBeUndefined();
    expect(second.eventsOf('group-participants.update').filter(({ id }) => id === group.jid)).toEqual([]);
  });

  it('a client joins by the link, once, and everybody is notified', async () => {
    const { group } = createGroup(simulator.network, alice.account, 'Open', [], addressing);
    const code = (await first.socket.groupInviteCode(group.jid)) ?? '';
    expect(await second.socket.groupAcceptInvite(code)).toBe(group.jid);
    const server = addressing === 'lid' ? 'lid' : 's.whatsapp.net';
    await first.until(
      () =>
        first
          .eventsOf('group-participants.update')
          .some(
            ({ id, action, participants }) =>
              id === group.jid && action === 'add' && participants[0]?.id === bob.account.jidLike(server),
          ),
      'the newcomer',
    );
    await expect(second.socket.groupAcceptInvite(code)).rejects.toMatchObject({ data: 409 });
    await expect(second.socket.groupAcceptInvite('nothingOfTheKind')).rejects.toMatchObject({ data: 404 });
    await second.send(group.jid, { text: 'here I am' });
    await first.text('here I am');
  });

  it('accepts an invitation made for one person', async () => {
    const { network } = simulator;
    bob.account.state.privacy['groupadd'] = 'none';
    const { group, outcomes } = createGroup(network, alice.account, 'Private', [bob.account.phoneJid], addressing);
    bob.account.state.privacy['groupadd'] = 'all';
    const invitation = outcomes[0]?.invitation;
    expect(outcomes[0]?.error).toBe(403);
    await second.socket.groupAcceptInviteV4(alice.account.phoneJid, {
      groupJid: group.jid,
      inviteCode: invitation?.code ?? '',
      inviteExpiration: invitation?.until ?? 0,
    });
    expect(group.has(bob.account.lid)).toBe(true);
  });

  it('refuses metadata that is queried too often', async () => {
    const { group } = createGroup(simulator.network, alice.account, 'Busy', [], addressing);
    simulator.network.limits.groupQueriesPerMinute = 2;
    const asks = Array.from({ length: 40 }, () => first.socket.groupMetadata(group.jid));
    const refused = (await Promise.allSettled(asks)).find(({ status }) => status === 'rejected');
    simulator.network.limits.groupQueriesPerMinute = 0;
    expect(refused).toMatchObject({ reason: { message: 'rate-overlimit' } });
  });
});

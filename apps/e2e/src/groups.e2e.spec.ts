import { eventually } from './harness/eventually.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { loginCode, RunningStack, untilConnected, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

interface GroupShape {
  id: string;
  group_id?: string;
  name: string;
  description?: string;
  participants: { id: string; rank: string }[];
  participants_count: number;
  timestamp: number;
  announcements?: boolean;
  restricted?: boolean;
  adminAddMemberMode?: boolean;
  last_message?: { type: string };
  unprocessed_participants?: string[];
  invites?: { participant: string; invite_code: string; invite_link: string }[];
}
interface PhoneGroup {
  id: string;
  subject: string;
  description: string;
  announcement: boolean;
  locked: boolean;
  addMode: string;
  approval: boolean;
  inviteCode: string;
  members: { phone: string; role: string }[];
}
interface ParticipantsAnswer {
  success: boolean;
  processed: string[];
  failed: string[];
  invites?: GroupShape['invites'];
}
interface Failure {
  error: { code: number; details?: string };
}

describe('groups', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let client: GatewayClient;
  let ada: VirtualPhone;
  let bo: VirtualPhone;
  let shy: VirtualPhone;
  let webhook: WebhookReceiver;

  beforeAll(async () => {
    running = await RunningStack.shared();
    webhook = await WebhookReceiver.start();
    channel = await running.createLinkedChannel('Example Shop');
    ({ client } = channel);
    ada = await running.network.createPhone({ name: 'Ada Example' });
    bo = await running.network.createPhone({ name: 'Bo Example' });
    shy = await running.network.createPhone({ name: 'Shy Example' });
    await running.network.call('POST', `/phones/${shy.phone}/privacy`, { groupadd: 'none' });
    await client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: webhook.url, mode: 'body', events: [{ type: 'groups' }, { type: 'messages' }] }] },
    });
  }, 120_000);

  afterAll(async () => {
    await running.stop();
    await webhook.close();
  }, 30_000);

  afterEach(async () => {
    await running.network.call('POST', '/limits', { groupQueriesPerMinute: 0 });
    await client.request('PATCH', '/settings', { body: { group_notices: false } });
  });

  /** By what the network says of the change: the worker asks for its groups by itself after a minute at the earliest. */
  const soon = (what: string, isSo: () => Promise<boolean>) => eventually(isSo, { what });
  const onPhone = async (phone: VirtualPhone, id: string): Promise<PhoneGroup> => {
    const all = await running.network.call<PhoneGroup[]>('GET', `/phones/${phone.phone}/groups`);
    const group = all.find((each) => each.id === id);
    if (!group) throw new Error(`${phone.phone} is not in ${id}`);
    return group;
  };
  const get = async (id: string) => (await client.get<GroupShape>(`/groups/${id}`)).body;
  const create = async (subject: string, people: VirtualPhone[]): Promise<GroupShape> => {
    const participants = people.map(({ phone }) => phone);
    const { status, body } = await client.post<GroupShape>('/groups', { subject, participants });
    expect(status).toBe(200);
    return body;
  };
  const rank = async (id: string, { phone }: VirtualPhone) =>
    (await get(id)).participants.find((participant) => participant.id === phone)?.rank;
  const fails = async (
    status: number,
    details: string | undefined,
    answer: Promise<{ status: number; body: unknown }>,
  ) => {
    const { status: got, body } = await answer;
    expect({ status: got, details: (body as Failure).error.details }).toEqual({ status, details });
  };
  /** Groups that others made and in which the channel is an ordinary member. */
  const foreign = async (subject: string, by = ada, others: VirtualPhone[] = []): Promise<PhoneGroup> => {
    const members = [channel.phone.phone, ...others.map(({ phone }) => phone)];
    const group = await running.network.call<PhoneGroup>('POST', `/phones/${by.phone}/groups`, { subject, members });
    await eventually(async () => (await client.get(`/groups/${group.id}`)).status === 200, { what: subject });
    return group;
  };
  const acts = (by: VirtualPhone, id: string, action: string, ...people: VirtualPhone[]) =>
    running.network.call('POST', `/phones/${by.phone}/groups/${id}/members`, {
      action,
      members: people.map(({ phone }) => phone),
    });

  it('are made with all who let themselves be added; the others come back with an invitation', async () => {
    const made = await create('Example Group', [ada, bo, shy]);
    expect(made).toMatchObject({
      group_id: made.id,
      name: 'Example Group',
      participants_count: 3,
      unprocessed_participants: [shy.phone],
    });
    expect(made.participants).toContainEqual({ id: channel.phone.phone, rank: 'creator' });
    const group = await onPhone(ada, made.id);
    expect(made.invites).toEqual([
      {
        participant: shy.phone,
        invite_code: group.inviteCode,
        invite_link: `https://chat.whatsapp.com/${group.inviteCode}`,
      },
    ]);
    await webhook.waitFor(
      'the new group',
      ({ body }) => (body.groups as GroupShape[] | undefined)?.[0]?.id === made.id,
    );
    await running.network.call('POST', `/phones/${shy.phone}/join`, { code: made.invites?.[0]?.invite_code });
    const joined = await webhook.waitFor(
      'somebody followed the link',
      ({ body }) => (body.groups_participants as { group_id: string }[] | undefined)?.[0]?.group_id === made.id,
    );
    expect(joined.body.groups_participants).toEqual([{ group_id: made.id, participants: [shy.phone], action: 'add' }]);
    const reported = webhook.calls.filter(({ body }) => (body.groups as GroupShape[] | undefined)?.[0]?.id === made.id);
    expect(reported).toHaveLength(1);
  }, 30_000);

  it('add and remove people, promote and demote them, and report the outcome of each', async () => {
    const { id } = await create('Members', [ada]);
    const participants = [ada.phone, bo.phone, shy.phone, '15559990000'];
    const added = await client.post<ParticipantsAnswer>(`/groups/${id}/participants`, { participants });
    expect(added.body).toMatchObject({
      success: true,
      processed: [ada.phone, bo.phone],
      failed: [shy.phone, '15559990000'],
      invites: [{ participant: shy.phone }],
    });
    await client.request('PATCH', `/groups/${id}/admins`, { body: { participants: [bo.phone] } });
    expect(await rank(id, bo)).toBe('admin');
    expect((await onPhone(bo, id)).members).toContainEqual({ phone: bo.phone, role: 'admin' });
    await client.request('DELETE', `/groups/${id}/admins`, { body: { participants: [bo.phone] } });
    expect(await rank(id, bo)).toBe('member');
    const removed = await client.request<ParticipantsAnswer>('DELETE', `/groups/${id}/participants`, {
      body: { participants: [bo.phone, shy.phone] },
    });
    expect(removed.body).toEqual({ success: true, processed: [bo.phone], failed: [shy.phone] });
    expect(await rank(id, bo)).toBeUndefined();
    await expect(onPhone(bo, id)).rejects.toThrow('is not in');
    await fails(
      404,
      `participants: not a member: ${bo.phone}`,
      client.request('PATCH', `/groups/${id}/admins`, { body: { participants: [bo.phone] } }),
    );
  }, 30_000);

  it('are renamed, described and ruled, by either family of bodies', async () => {
    const { id } = await create('Old Name', [ada]);
    const patch = async (body: Record<string, unknown>) => {
      expect((await client.request('PATCH', `/groups/${id}`, { body })).body).toEqual({ success: true });
    };
    await patch({ subject: 'New Name', description: 'New text' });
    expect(await get(id)).toMatchObject({ name: 'New Name', description: 'New text' });
    expect(await onPhone(ada, id)).toMatchObject({ subject: 'New Name', description: 'New text' });
    await patch({ description: '' });
    expect((await onPhone(ada, id)).description).toBe('');
    expect((await get(id)).description).toBeUndefined();
    for (const setting of ['send_messages', 'edit_group_info', 'approve_participants', 'add_participants']) {
      await patch({ setting, policy: 'admins' });
    }
    const strict = { announcement: true, locked: true, approval: true, addMode: 'admin_add' };
    expect(await onPhone(ada, id)).toMatchObject(strict);
    expect(await get(id)).toMatchObject({ announcements: true, restricted: true, adminAddMemberMode: false });
    await fails(
      400,
      'body: either subject and description, or setting with policy',
      client.request('PATCH', `/groups/${id}`, { body: { subject: 'x', setting: 'send_messages' } }),
    );
  }, 30_000);

  it('answer 403 without admin rights and 404 where the channel is not', async () => {
    const { id } = await foreign('Ruled by Ada');
    const needed = 'group admin rights are needed';
    const people = { participants: [bo.phone] };
    await running.network.call('PATCH', `/phones/${ada.phone}/groups/${id}`, { locked: true, addMode: 'admin_add' });
    await eventually(async () => (await get(id)).restricted, { what: 'the group is locked' });
    await fails(403, needed, client.request('PATCH', `/groups/${id}`, { body: { subject: 'Mine' } }));
    const setting = { setting: 'send_messages', policy: 'admins' };
    await fails(403, needed, client.request('PATCH', `/groups/${id}`, { body: setting }));
    await fails(403, needed, client.post(`/groups/${id}/participants`, people));
    await fails(403, needed, client.request('DELETE', `/groups/${id}/participants`, { body: people }));
    await fails(403, needed, client.request('PATCH', `/groups/${id}/admins`, { body: people }));
    await fails(403, needed, client.request('DELETE', `/groups/${id}/admins`, { body: people }));
    await fails(403, needed, client.get(`/groups/${id}/invite`));
    await fails(403, needed, client.request('DELETE', `/groups/${id}/invite`));
    const nowhere = '120363999999999999@g.us';
    for (const path of [nowhere, 'nonsense', ada.phone]) expect((await client.get(`/groups/${path}`)).status).toBe(404);
    expect((await client.request('DELETE', `/groups/${nowhere}`)).status).toBe(404);
    expect((await client.get(`/groups/${nowhere}?resync=true`)).status).toBe(404);
    expect((await client.post(`/groups/${nowhere}/participants`, people)).status).toBe(404);
  }, 30_000);

  it('follow what others do on their phones, and report it', async () => {
    const { id } = await foreign('Busy');
    await running.network.call('PATCH', `/phones/${ada.phone}/groups/${id}`, { subject: 'Busier', description: 'All' });
    await soon('the new name', async () => (await get(id)).name === 'Busier' && (await get(id)).description === 'All');
    await acts(ada, id, 'add', bo);
    await soon('somebody was added', async () => (await rank(id, bo)) === 'member');
    await acts(ada, id, 'promote', channel.phone);
    await soon('promoted', async () => (await rank(id, channel.phone)) === 'admin');
    await acts(ada, id, 'remove', bo);
    await soon('removed', async () => (await rank(id, bo)) === undefined);
    await webhook.waitFor('the new name', ({ body }) => {
      const [update] = (body.groups_updates ?? []) as { after_update: { name?: string }; changes: string[] }[];
      return update?.after_update.name === 'Busier' && update.changes.includes('name');
    });
    const actions = () =>
      webhook.calls.flatMap(({ body }) =>
        ((body.groups_participants ?? []) as { group_id: string; action: string }[])
          .filter(({ group_id: groupId }) => groupId === id)
          .map(({ action }) => action),
      );
    await eventually(() => Promise.resolve(actions().length === 3), { what: 'three changes of members' });
    expect(actions()).toEqual(['add', 'promote', 'remove']);
    const notices = () =>
      webhook.calls
        .flatMap(({ body }) => (body.messages ?? []) as { type: string }[])
        .filter(({ type }) => type === 'system');
    expect(notices()).toEqual([]);
    await client.request('PATCH', '/settings', { body: { group_notices: true } });
    await acts(ada, id, 'add', bo);
    await webhook.waitFor('the sentence about it', ({ body }) => {
      const [message] = (body.messages ?? []) as { type: string; chat_id: string; from_me: boolean }[];
      return message?.type === 'system' && message.chat_id === id && !message.from_me;
    });
    for (const action of ['remove', 'add']) await acts(ada, id, action, channel.phone);
    const added = `${ada.phone} added ${channel.phone.phone}`;
    await webhook.waitFor(added, (call) => JSON.stringify(call.body.messages ?? []).includes(added));
  }, 30_000);

  it('are written to without querying the network about them again, and tell each reader apart', async () => {
    const { id } = await create('Readers', [ada, bo]);
    await running.network.call('POST', '/limits', { groupQueriesPerMinute: 1 });
    const sent: string[] = [];
    for (const body of ['one', 'two', 'three']) {
      const answer = await client.post<{ message: { id: string } }>('/messages/text', { to: id, body });
      expect(answer.status).toBe(200);
      sent.push(answer.body.message.id);
    }
    for (const phone of [ada, bo]) expect(await phone.waitFor({ text: 'three' })).toMatchObject({ chat: id });
    await bo.read(id);
    const steps = await eventually(
      async () => {
        const { body } = await client.get<{ statuses: { code: number; viewer_id?: string }[] }>(
          `/statuses/${sent[2] ?? ''}`,
        );
        return body.statuses.some(({ code }) => code === 4) && body.statuses;
      },
      { what: 'somebody read it' },
    );
    expect(steps).toContainEqual(expect.objectContaining({ code: 4, viewer_id: bo.phone }));
    expect(steps).not.toContainEqual(expect.objectContaining({ code: 4, viewer_id: ada.phone }));
    expect(steps).toContainEqual(expect.objectContaining({ code: 3, viewer_id: ada.phone }));
  }, 30_000);

  it('refuse messages where only admins write, or where the channel is not', async () => {
    const { id } = await foreign('Announcements');
    await running.network.call('PATCH', `/phones/${ada.phone}/groups/${id}`, { announcement: true });
    await eventually(async () => (await get(id)).announcements, { what: 'only admins write' });
    await fails(
      403,
      'to: only admins may write in this group',
      client.post('/messages/text', { to: id, body: 'May I?' }),
    );
    await acts(ada, id, 'promote', channel.phone);
    await eventually(async () => (await rank(id, channel.phone)) === 'admin', { what: 'promoted' });
    expect((await client.post('/messages/text', { to: id, body: 'Now I may' })).status).toBe(200);
    expect(await ada.waitFor({ text: 'Now I may' })).toMatchObject({ chat: id });
    await acts(ada, id, 'remove', channel.phone);
    await eventually(async () => (await client.get(`/groups/${id}`)).status === 404, { what: 'the channel is out' });
    await fails(
      404,
      'to: the channel is not in this group',
      client.post('/messages/text', { to: id, body: 'Still there?' }),
    );
    await acts(ada, id, 'add', channel.phone);
    await eventually(async () => (await client.get(`/groups/${id}`)).status === 200, { what: 'the channel is back' });
  }, 30_000);

  it('are joined by their link, and left', async () => {
    const { id, inviteCode } = await running.network.call<PhoneGroup>('POST', `/phones/${bo.phone}/groups`, {
      subject: 'Open House',
      members: [ada.phone],
    });
    const join = () => client.post<{ success: boolean; group_id: string }>(`/groups/link/${inviteCode}`);
    expect((await join()).body).toEqual({ success: true, group_id: id });
    expect((await onPhone(bo, id)).members).toContainEqual({ phone: channel.phone.phone, role: 'member' });
    expect((await join()).body).toEqual({ success: true, group_id: id });
    expect(await get(id)).toMatchObject({ name: 'Open House', participants_count: 3 });
    expect((await client.request('DELETE', `/groups/${id}`)).body).toEqual({ success: true });
    await expect(onPhone(channel.phone, id)).rejects.toThrow('is not in');
    expect((await client.get(`/groups/${id}`)).status).toBe(404);
    await fails(404, 'InviteCode: no such invitation', client.post('/groups/link/AbCdEfGhIjKlMnOpQrStUv'));
    await fails(404, 'InviteCode: no such invitation', client.post('/groups/link/short'));
  }, 30_000);

  it('have a link that is sent without joining, and that can be replaced', async () => {
    const group = await running.network.call<PhoneGroup>('POST', `/phones/${bo.phone}/groups`, {
      subject: 'Not Mine',
      members: [ada.phone],
    });
    const link = `https://chat.whatsapp.com/${group.inviteCode}`;
    const sent = await client.post<{ message: Record<string, unknown> }>(`/groups/link/${group.inviteCode}`, {
      to: ada.phone,
      body: 'Join us %URL%',
      preview_type: 'none',
    });
    expect(sent.body.message).toMatchObject({
      type: 'group_invite',
      group_invite: { body: `Join us ${link}`, title: 'Not Mine', invite_code: group.inviteCode, url: link },
    });
    expect(await ada.waitFor({ text: `Join us ${link}` })).toMatchObject({ fromMe: false });
    await expect(onPhone(channel.phone, group.id)).rejects.toThrow('is not in');

    const { id } = await create('Mine', [ada]);
    const before = await client.get<{ invite_code: string; invite_link: string }>(`/groups/${id}/invite`);
    expect(before.body.invite_code).toBe((await onPhone(ada, id)).inviteCode);
    const after = await client.request<{ success: boolean; invite_code: string }>('DELETE', `/groups/${id}/invite`);
    expect(after.body.invite_code).toBe((await onPhone(ada, id)).inviteCode);
    expect(after.body.invite_code).not.toBe(before.body.invite_code);
    await fails(
      404,
      'InviteCode: no such invitation',
      client.post(`/groups/link/${before.body.invite_code}`, { to: ada.phone }),
    );
  }, 30_000);

  it('are listed the last active first, by pages, and queried again on request', async () => {
    await create('Earlier', [ada]);
    await create('Earlier still', [ada]);
    const { id } = await create('Latest', [ada]);
    await client.post('/messages/text', { to: id, body: 'newest' });
    interface List {
      groups: GroupShape[];
      count: number;
      total: number;
      offset: number;
    }
    const { body } = await client.get<List>('/groups?count=2');
    expect(body).toMatchObject({ count: 2, offset: 0, groups: [{}, {}] });
    const rest = await client.get<List>(`/groups?count=500&offset=2`);
    expect(rest.body.groups).toHaveLength(body.total - 2);
    const all = [...body.groups, ...rest.body.groups];
    expect(all.find((group) => group.id === id)?.last_message).toMatchObject({ type: 'text' });
    const times = all.map(({ timestamp }) => timestamp);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect((await client.get<GroupShape>(`/groups/${id}?resync=true`)).body).toMatchObject({ id, name: 'Latest' });
  }, 30_000);

  it('are known from before the link without a single event about them', async () => {
    const phone = await running.network.createPhone({ name: 'Second Shop' });
    const old = await running.network.call<PhoneGroup>('POST', `/phones/${phone.phone}/groups`, {
      subject: 'From Before',
      members: [ada.phone],
    });
    const second = await running.createChannel('Second Shop');
    await second.client.request('PATCH', '/settings', {
      body: { webhooks: [{ url: webhook.url, mode: 'body', events: [{ type: 'groups' }] }] },
    });
    await phone.scan(await loginCode(second.client));
    await untilConnected(second.client);
    await eventually(async () => (await second.client.get(`/groups/${old.id}`)).status === 200, { what: 'the group' });
    const sent = await second.client.post('/messages/text', { to: old.id, body: 'Hello from before' });
    expect(sent.status).toBe(200);
    await ada.waitFor({ text: 'Hello from before' });
    expect(webhook.calls.filter(({ body }) => body.channel_id === second.id)).toEqual([]);
  }, 30_000);
});

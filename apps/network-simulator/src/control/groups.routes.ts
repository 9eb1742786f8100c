import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Group } from '../network/group.js';
import { addMembers, createGroup, leaveGroup, removeMembers, setRole, type Outcome } from '../groups/group-members.js';
import { changeGroup, revokeInviteCode } from '../groups/group-settings.js';
import { acceptInvitation, decideRequests, joinByCode, withdrawRequest } from '../groups/joining.js';
import type { Network } from '../network/network.js';
import type { Phones } from '../phones/phones.js';
import { LID_SERVER } from '../wire/jid.js';
import { node } from '../wire/node.js';
import { accountOf, chatJid, groupOf } from './lookup.js';
import { removeGroup } from './removal.js';

const atPhone = z.object({ phone: z.string() });
const atGroup = z.object({ phone: z.string(), group: z.string() });
const people = z.array(z.string().min(1)).min(1);
export const newGroup = z.object({
  subject: z.string().min(1),
  members: z.array(z.string()).default([]),
  addressing: z.enum(['lid', 'pn']).default('lid'),
});
export const groupChange = z.object({
  subject: z.string().optional(),
  description: z.string().optional(),
  announcement: z.boolean().optional(),
  locked: z.boolean().optional(),
  addMode: z.enum(['all_member_add', 'admin_add']).optional(),
  ephemeralSeconds: z.number().int().min(0).optional(),
  approval: z.boolean().optional(),
});
/** With `group`: an invitation made for this person. */
export const joining = z.object({ code: z.string(), group: z.string().optional() });
/** An admin's answer to requests to join. */
export const requestAnswer = z.object({ action: z.enum(['approve', 'reject']), members: people });
export const membership = z.object({ action: z.enum(['add', 'remove', 'promote', 'demote']), members: people });

/** Groups, done by a phone. */
export function groupRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  const at = (params: unknown) => {
    const { phone, group: id } = atGroup.parse(params);
    return { actor: accountOf(network, phone), group: groupOf(network, id) };
  };

  app.get('/groups', () => [...network.groups.all()].map((group) => groupView(network, group)));
  app.get('/phones/:phone/groups', (request) => {
    const account = accountOf(network, atPhone.parse(request.params).phone);
    return network.groups.ofMember(account.lid).map((group) => groupView(network, group));
  });
  app.post('/phones/:phone/groups', (request, reply) => {
    const { subject, members, addressing } = newGroup.parse(request.body);
    const creator = accountOf(network, atPhone.parse(request.params).phone);
    const { group, outcomes } = createGroup(network, creator, subject, members.map(chatJid), addressing);
    return reply.status(201).send({ ...groupView(network, group), outcomes: outcomes.map(outcome) });
  });
  app.patch('/phones/:phone/groups/:group', (request) => {
    const { actor, group } = at(request.params);
    for (const wanted of changes(group, groupChange.parse(request.body))) changeGroup(network, group, actor, wanted);
    return groupView(network, group);
  });
  app.delete('/groups/:group', async (request) => {
    const { group: id } = z.object({ group: z.string() }).parse(request.params);
    const group = groupOf(network, id);
    await removeGroup(phones, group);
    return { removed: group.jid };
  });
  app.post('/phones/:phone/groups/:group/members', (request) => {
    const { actor, group } = at(request.params);
    const { action, members } = membership.parse(request.body);
    const jids = members.map(chatJid);
    if (action === 'add') return addMembers(network, group, actor, jids).map(outcome);
    if (action === 'remove') return removeMembers(network, group, actor, jids).map(outcome);
    return setRole(network, group, actor, jids, action === 'promote' ? 'admin' : 'member').map(outcome);
  });
  app.post('/phones/:phone/groups/:group/requests', (request) => {
    const { actor, group } = at(request.params);
    const { action, members } = requestAnswer.parse(request.body);
    return decideRequests(network, group, actor, members.map(chatJid), action === 'approve').map(outcome);
  });
  app.delete('/phones/:phone/groups/:group/requests', (request) => {
    const { actor, group } = at(request.params);
    withdrawRequest(network, group, actor);
    return { withdrawn: group.jid };
  });
  app.post('/phones/:phone/groups/:group/leave', (request) => {
    const { actor, group } = at(request.params);
    leaveGroup(network, group, actor);
    return { left: group.jid };
  });
  app.post('/phones/:phone/groups/:group/revoke-invite', (request) => {
    const { actor, group } = at(request.params);
    return { code: revokeInviteCode(network, group, actor) };
  });
  app.post('/phones/:phone/join', (request) => {
    const { code, group: id } = joining.parse(request.body);
    const actor = accountOf(network, atPhone.parse(request.params).phone);
    if (id === undefined) return groupView(network, joinByCode(network, actor, code));
    const group = groupOf(network, id);
    acceptInvitation(network, group, actor, code);
    return groupView(network, group);
  });
}

/** The requests, as a client would make them, for what is to be changed. */
function changes(group: Group, given: z.infer<typeof groupChange>) {
  const wanted = [];
  if (given.subject !== undefined) wanted.push(node('subject', {}, Buffer.from(given.subject)));
  if (given.description !== undefined) {
    const prev = group.state.description?.id;
    const id = Buffer.from(`${group.state.id}${Date.now()}`).toString('hex').slice(-20).toUpperCase();
    wanted.push(
      given.description === ''
        ? node('description', { delete: 'true', prev })
        : node('description', { id, prev }, [node('body', {}, Buffer.from(given.description))]),
    );
  }
  if (given.announcement !== undefined) wanted.push(node(given.announcement ? 'announcement' : 'not_announcement'));
  if (given.locked !== undefined) wanted.push(node(given.locked ? 'locked' : 'unlocked'));
  if (given.addMode !== undefined) wanted.push(node('member_add_mode', {}, Buffer.from(given.addMode)));
  if (given.ephemeralSeconds !== undefined) {
    wanted.push(
      given.ephemeralSeconds > 0
        ? node('ephemeral', { expiration: String(given.ephemeralSeconds) })
        : node('not_ephemeral'),
    );
  }
  if (given.approval !== undefined) {
    wanted.push(node('membership_approval_mode', {}, [node('group_join', { state: given.approval ? 'on' : 'off' })]));
  }
  return wanted;
}

function groupView(network: Network, group: Group) {
  const { state } = group;
  return {
    id: group.jid,
    subject: state.subject.text,
    description: state.description?.text ?? '',
    addressing: state.addressing,
    announcement: state.announcement,
    locked: state.locked,
    addMode: state.addMode,
    ephemeralSeconds: state.ephemeralSeconds,
    approval: state.approval,
    waiting: state.waiting.map(({ lid, at }) => ({ phone: phoneOf(network, lid), at })),
    inviteCode: state.inviteCode,
    members: Object.entries(state.members).map(([lid, role]) => ({
      phone: phoneOf(network, lid),
      role,
    })),
  };
}

function phoneOf(network: Network, lid: string): string {
  return network.accounts.find(`${lid}@${LID_SERVER}`)?.phone ?? lid;
}

function outcome({ jid, account, error, invitation }: Outcome) {
  return { phone: account?.phone ?? jid, status: error ?? 200, ...(invitation && { invitation }) };
}

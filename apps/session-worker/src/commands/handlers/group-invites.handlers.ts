import { GatewayError, type GroupInvite, type SendGroupInviteInput } from '@dormouse/gateway-contract';
import { bareJid } from '../../convert/jid.js';
import { pictureOf, previewToNetwork } from '../../convert/plain-to-network.js';
import { toPreview } from '../../convert/present.js';
import type { GroupDescription } from '../../socket/network-events.js';
import { refusedRequest } from '../../socket/requests/refused-request.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { Handlers, PreparationContext, Turn } from '../command-context.js';
import { composeAndSend } from '../sending/compose-message.js';
import { editMessage } from '../sending/edit-message.js';
import { inviteLink } from './group-members.js';
import { asMember, requireAdmin } from './group-rights.js';
import { noSuchInvite, type GroupTools } from './groups.handlers.js';
import type { MediaTools } from '../sending/message-tools.js';
import { pictureFrom } from './messages.handlers.js';

type InviteCommands = 'groups.join' | 'groups.sendInvite' | 'groups.invite' | 'groups.revokeInvite';

/** Invite links: shown, renewed, sent, joined. */
export function groupInviteHandlers(tools: GroupTools & MediaTools): Pick<Handlers, InviteCommands> {
  const { groups } = tools;
  return {
    'groups.join': async (context, { inviteCode }) => {
      const session = context.session();
      const groupId = await join(session, inviteCode);
      // Where an admin has to approve, the channel is not in the group yet: there is nothing to store.
      await groups.refresh(session, groupId).catch(unlessNotIn);
      return { success: true, group_id: groupId };
    },
    'groups.sendInvite': { prepare: (preparing, input) => prepareInvite(preparing, tools, input) },
    'groups.invite': async (context, { groupId }) => {
      const session = context.session();
      const group = await groups.read(session, groupId);
      requireAdmin(session, group);
      return inviteOf(await asMember(session, tools, group, () => session.network.groups.inviteCode(groupId)));
    },
    'groups.revokeInvite': async (context, { groupId }) => {
      const session = context.session();
      const group = await groups.read(session, groupId);
      requireAdmin(session, group);
      const code = await asMember(session, tools, group, () => session.network.groups.revokeInvite(groupId));
      const invite = inviteOf(code);
      const { invite_code: inviteCode } = invite;
      await groups.change(session, groupId, (before) => ({ ...before, facts: { ...before.facts, inviteCode } }));
      return { success: true, ...invite };
    },
  };
}

function inviteOf(code: string | undefined): GroupInvite {
  if (code === undefined) throw new GatewayError(502, { details: 'the network returned no invite code' });
  return { invite_code: code, invite_link: inviteLink(code) };
}

/** The channel is in the group already. */
const ALREADY_IN = 409;
/** The link was revoked or the group is gone; a code of the wrong form is 406 or 400. */
const INVALID_CODE = [400, 404, 406, 410];

/** @returns the group's id, also when the channel is in it already, or now waits for an admin's approval */
async function join(session: OpenSession, code: string): Promise<string> {
  try {
    const joined = await session.network.groups.join(code);
    if (joined !== undefined) return bareJid(joined);
  } catch (error) {
    if (refusedRequest(error) !== ALREADY_IN) throw invalidCode(error);
  }
  return bareJid((await infoOf(session, code)).id);
}

async function infoOf(session: OpenSession, code: string): Promise<GroupDescription> {
  return session.network.groups.invitedTo(code).catch((error: unknown) => {
    throw invalidCode(error);
  });
}

function invalidCode(error: unknown): unknown {
  const refusal = refusedRequest(error);
  return refusal !== undefined && INVALID_CODE.includes(refusal) ? noSuchInvite() : error;
}

function unlessNotIn(error: unknown): void {
  if (error instanceof GatewayError && error.status === 404) return;
  throw error;
}

const LINK_MARK = '%URL%';

/** Sends the link with a preview of the group; never joins it. */
async function prepareInvite(
  preparing: PreparationContext,
  tools: MediaTools,
  input: SendGroupInviteInput,
): Promise<Turn<'groups.sendInvite'>> {
  const { inviteCode, mentions, edit } = input;
  const url = inviteLink(inviteCode);
  const body = withLink(input.body, url);
  if (edit !== undefined) {
    return (context) => editMessage(context, tools, { id: edit, body, context: { mentions }, field: 'edit' });
  }
  const { id, subject, desc } = await infoOf(await preparing.openSession(), inviteCode);
  const title = input.title ?? subject;
  const picture = await pictureFor(preparing, tools, input, id);
  const description = input.preview_type === 'none' ? undefined : desc;
  const preview = toPreview(picture);
  return (context) =>
    composeAndSend(context, tools, input, (contextInfo) => ({
      content: previewToNetwork(body, { url, title, description, picture }, contextInfo),
      shown: {
        type: 'group_invite',
        group_invite: {
          body,
          title,
          ...(description && { description }),
          invite_code: inviteCode,
          url,
          ...(preview !== undefined && { preview }),
        },
      },
    }));
}

/** A picture from the customer is preferred to the group's own. */
async function pictureFor(
  preparing: PreparationContext,
  tools: MediaTools,
  { preview, preview_type: type, media }: SendGroupInviteInput,
  groupId: string,
): Promise<Buffer | undefined> {
  if (type === 'none') return undefined;
  const given = pictureOf(preview) ?? (await pictureFrom(preparing, tools, media));
  if (given !== undefined || type !== 'group_picture') return given;
  return tools.media.pictures.small(await preparing.openSession(), bareJid(groupId));
}

/** `%URL%` stands for the link; a text without it gets the link on a line of its own. */
function withLink(body: string | undefined, url: string): string {
  if (body === undefined || body.trim() === '') return url;
  return body.includes(LINK_MARK) ? body.replaceAll(LINK_MARK, url) : `${body}\n${url}`;
}

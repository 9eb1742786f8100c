import { chatIdOf, GatewayError, readRecipient } from '@dormouse/gateway-contract';
import type { MessageReader } from '@dormouse/message-store/read';
import { isOwnMember } from '../../convert/group.js';
import type { ChatTimers } from '../../socket/chat-timers.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { CanonicalNumbers } from './canonical-numbers.js';

/** Where a message goes. */
export interface Destination {
  /** The network's address. */
  jid: string;
  /** The chat as customers see it. */
  chatId: string;
  /** How long messages stay in the chat; absent: for ever. */
  timer?: { seconds: number; setAtS?: number } | undefined;
}

/** What finding a recipient needs. */
export interface RecipientTools {
  readonly reader: Pick<MessageReader, 'chat' | 'hasShown'>;
  readonly timers: Pick<ChatTimers, 'of'>;
  readonly numbers: Pick<CanonicalNumbers, 'of'>;
}

/**
 * Finds the recipient of a message. A LID is accepted only if this channel showed it to its customer; once its number is
 * known, the message goes to the number's chat.
 * @throws {GatewayError} 400 for what is no recipient; 404 for a LID that the customer was never shown, or a group the
 * channel is not in; 403 for a group in which only admins write
 */
export async function findRecipient(session: OpenSession, tools: RecipientTools, to: string): Promise<Destination> {
  const recipient = readRecipient(to);
  if (!recipient) throw new GatewayError(400, { details: 'to: not a valid recipient' });
  const chatId = chatIdOf(recipient);
  switch (recipient.kind) {
    case 'individual': {
      const digits = await tools.numbers.of(session, recipient.digits);
      const canonical = chatIdOf({ ...recipient, digits });
      return { jid: canonical, chatId: canonical, timer: await runningTimer(session, tools, canonical) };
    }
    case 'lid': {
      const number = (await session.network.people.numbersOfLids([chatId])).get(recipient.digits);
      if (number !== undefined) return findRecipient(session, tools, number);
      const { reader } = tools;
      const chat = await reader.chat(session.channelId, chatId);
      if (chat && chat.id !== chatId) return findRecipient(session, tools, chat.id);
      if (chat || (await reader.hasShown(session.channelId, chatId))) {
        return { jid: chatId, chatId, timer: await runningTimer(session, tools, chatId) };
      }
      throw new GatewayError(404, { details: 'to: no such chat' });
    }
    case 'group': {
      const seconds = await assertMayWrite(session, chatId);
      return { jid: chatId, chatId, timer: seconds > 0 ? { seconds } : undefined };
    }
  }
}

async function runningTimer(session: OpenSession, { timers }: RecipientTools, chatId: string) {
  const timer = await timers.of(session, chatId);
  return timer && timer.seconds > 0 ? timer : undefined;
}

/**
 * Checked before the message is sent: the network would accept it and deliver it to nobody.
 * @returns seconds that messages stay in the group, 0 for ever
 */
async function assertMayWrite(session: OpenSession, groupId: string): Promise<number> {
  const { announcements, rank, ephemeralS } = await membershipIn(session, groupId);
  if (!rank) throw new GatewayError(404, { details: 'to: the channel is not in this group' });
  if (announcements && rank === 'member') {
    throw new GatewayError(403, { details: 'to: only admins may write in this group' });
  }
  return ephemeralS;
}

/** Is the channel an admin of the group? False when it is not in it. */
export async function isGroupAdmin(session: OpenSession, groupId: string): Promise<boolean> {
  const { rank = 'member' } = await membershipIn(session, groupId);
  return rank !== 'member';
}

async function membershipIn(session: OpenSession, groupId: string) {
  const group = await session.group(groupId).catch((error: unknown) => {
    if (error instanceof GatewayError && error.status === 404) return undefined;
    throw error;
  });
  const self = group?.members.find((member) => isOwnMember(member, session.identity));
  const { announcements = false, ephemeralS = 0 } = group?.facts ?? {};
  return { announcements, ephemeralS, rank: self?.rank };
}

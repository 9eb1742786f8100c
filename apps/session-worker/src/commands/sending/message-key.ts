import { createHash } from 'node:crypto';
import type { StoredMessage } from '@dormouse/message-store/write';
import { toMessageId } from '../../convert/message-id.js';
import type { CommandContext } from '../command-context.js';
import type { MessageTools } from './message-tools.js';

/** The first characters of the ids that the network's own web client makes. */
const WEB_CLIENT = '3EB0';
const HEX_DIGITS = 18;

/** The network's id of a new message. A request that its caller repeats gets the same id each time. */
export function keyIdFor(context: Pick<CommandContext, 'sendAs' | 'session'>): string {
  return context.sendAs === undefined ? context.session().network.messages.newId() : repeatedKeyId(context.sendAs, 1);
}

/**
 * The id of a send, and what is stored under it. A repeated send gets the id it had before. What the network refused is
 * sent as another message, because a refused one stays failed; what it only never confirmed keeps its id.
 * @returns `earlier` the message that an earlier request stored under this id
 */
export async function chooseKeyId(
  context: CommandContext,
  { writer }: Pick<MessageTools, 'writer'>,
  chatId: string,
): Promise<{ keyId: string; earlier?: StoredMessage | undefined }> {
  const { channelId, sendAs } = context;
  if (sendAs === undefined) return { keyId: keyIdFor(context) };
  for (let attempt = 1; ; attempt += 1) {
    const keyId = repeatedKeyId(sendAs, attempt);
    const earlier = await writer.find(channelId, toMessageId({ keyId, fromMe: true, chatId }));
    if (earlier?.message.status !== 'failed') return { keyId, earlier };
    if (await writer.isUnconfirmed(channelId, keyId)) return { keyId, earlier };
  }
}

/** @param attempt 1, and one more for each id before it whose message failed */
function repeatedKeyId(sendAs: string, attempt: number): string {
  const digest = createHash('sha256').update(`${sendAs}\n${attempt}`).digest('hex');
  return WEB_CLIENT + digest.slice(0, HEX_DIGITS).toUpperCase();
}

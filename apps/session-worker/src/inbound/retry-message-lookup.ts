import { LID_SUFFIX } from '@dormouse/gateway-contract';
import type { MessageWriter } from '@dormouse/message-store/write';
import { bareJid, isGroup, personChatId, readJid } from '../convert/jid.js';
import { decodeMessage } from '../convert/message-bytes.js';
import type { OpenSession, RetryMessageLookup } from '../socket/open-session.js';

/**
 * Answers a recipient's request for a message it could not read, from the store: across restarts, and whether the
 * request comes under number or LID. A request from any other chat than the one the message went to is not answered.
 */
export function retryMessageLookup(writer: Pick<MessageWriter, 'protoOf'>): RetryMessageLookup {
  return async ({ channelId, network }, { id, remoteJid }) => {
    if (!id || !remoteJid) return undefined;
    const chatIds = await formsOf(remoteJid, network.people);
    const bytes = await writer.protoOf(channelId, id, chatIds);
    return bytes && decodeMessage(bytes);
  };
}

/** The ids under which the chat may be stored: by number and by LID. */
async function formsOf(remoteJid: string, people: OpenSession['network']['people']): Promise<string[]> {
  if (isGroup(remoteJid)) return [bareJid(remoteJid)];
  const { user, server } = readJid(remoteJid) ?? { user: '', server: '' };
  const other =
    server === LID_SUFFIX
      ? personChatId([remoteJid], await people.numbersOfLids([remoteJid]))
      : await people.lidOfNumber(user).then((lid) => lid && `${lid}@${LID_SUFFIX}`);
  return [bareJid(remoteJid), ...(other === undefined ? [] : [other])];
}

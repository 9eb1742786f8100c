import { LID_SUFFIX } from '@dormouse/gateway-contract';
import type { MessageWriter } from '@dormouse/message-store/write';
import { proto, type WASocket } from '@whiskeysockets/baileys';
import { bareJid, isGroup, personChatId, readJid } from '../convert/jid.js';
import { lidOfNumber, numbersOfLids } from '../socket/queries/lid-numbers.js';
import type { RetryMessageLookup } from '../socket/open-session.js';

/**
 * Answers a recipient's request for a message it could not read, from the store: across restarts, and whether the
 * request comes under number or LID. A request from any other chat than the one the message went to is not answered.
 */
export function recallFrom(writer: Pick<MessageWriter, 'protoOf'>): RetryMessageLookup {
  return async ({ channelId, socket }, { id, remoteJid }) => {
    if (!id || !remoteJid) return undefined;
    const chatIds = await formsOf(remoteJid, socket);
    const bytes = await writer.protoOf(channelId, id, chatIds);
    return bytes && proto.Message.decode(bytes);
  };
}

/** The ids under which the chat may be stored: by number and by LID. */
async function formsOf(remoteJid: string, socket: WASocket): Promise<string[]> {
  if (isGroup(remoteJid)) return [bareJid(remoteJid)];
  const { user, server } = readJid(remoteJid) ?? { user: '', server: '' };
  const other =
    server === LID_SUFFIX
      ? personChatId([remoteJid], await numbersOfLids(socket, [remoteJid]))
      : await lidOfNumber(socket, user).then((lid) => lid && `${lid}@${LID_SUFFIX}`);
  return [bareJid(remoteJid), ...(other === undefined ? [] : [other])];
}

/**
 * Second uploads of the same image or video. Phones send a small file first and a better copy later; the copy replaces
 * the first file.
 */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import type { MessageRecord, StoredMessage } from '@dormouse/message-store/write';
import type { Addition } from './addition.js';
import { messageFromNetwork, readReceived } from './message-from-network.js';
import { replacement } from './edit-from-network.js';
import { openMessage } from './opened-message.js';
import type { People } from './people.js';

const { HD_IMAGE_DUAL_UPLOAD, HD_VIDEO_DUAL_UPLOAD, HEVC_VIDEO_DUAL_UPLOAD } = proto.MessageAssociation.AssociationType;
const COPIES: ReadonlySet<number> = new Set([HD_IMAGE_DUAL_UPLOAD, HD_VIDEO_DUAL_UPLOAD, HEVC_VIDEO_DUAL_UPLOAD]);

/**
 * Reads the better copy of a file.
 * - The first message is stored: the copy changes it.
 * - It is not stored: the copy is stored in its place, under its id. When the first message arrives later, it is known
 *   already and is ignored.
 * - It is of another type or from another author: the copy is stored as a message of its own.
 * @returns undefined when the message is not a better copy
 */
export function betterCopyFromNetwork(received: WAMessage, people: People): Addition | undefined {
  const association = openMessage(received.message)?.contextInfo?.messageAssociation;
  const keyId = association?.parentMessageKey?.id;
  if (!keyId || !COPIES.has(association.associationType ?? 0)) return undefined;
  const read = readReceived(received, people);
  const record = read && messageFromNetwork(received, people);
  if (!read || !record) return undefined;
  const { type } = record.message;
  const file = record.message[type];
  return {
    target: { keyId, chatId: read.chatId },
    read: (first) => {
      if (!first) {
        const inPlaceOfFirst = messageFromNetwork({ ...received, key: { ...received.key, id: keyId } }, people);
        return { record: inPlaceOfFirst ?? record };
      }
      if (isStoredAs(first, record)) return undefined;
      const fits = first.message.type === type && first.message.from === read.base.from;
      if (!fits || typeof file !== 'object' || file === null) return { record };
      // The stored link is that of the first file.
      const fields = { link: undefined, ...file };
      return {
        action: replacement(read, { id: first.message.id, keyId }, type, fields),
        file: { ...record, message: { ...record.message, id: first.message.id } },
      };
    },
  };
}

/** Whether this copy is already stored in place of the first message. */
function isStoredAs(first: StoredMessage, { proto: bytes }: MessageRecord): boolean {
  return bytes !== undefined && first.proto !== undefined && Buffer.compare(first.proto, bytes) === 0;
}

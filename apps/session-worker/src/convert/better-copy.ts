/**
 * Second uploads of the same picture or film: phones send a small file first, and a better one of it later, which takes
 * the first one's place.
 */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import type { MessageRecord, StoredMessage } from '@dormouse/message-store/write';
import type { Addition } from './addition.js';
import { messageFromNetwork, readHeard } from './message-from-network.js';
import { replacement } from './edit-from-network.js';
import { openMessage } from './opened-message.js';
import type { People } from './people.js';

const { HD_IMAGE_DUAL_UPLOAD, HD_VIDEO_DUAL_UPLOAD, HEVC_VIDEO_DUAL_UPLOAD } = proto.MessageAssociation.AssociationType;
const COPIES: ReadonlySet<number> = new Set([HD_IMAGE_DUAL_UPLOAD, HD_VIDEO_DUAL_UPLOAD, HEVC_VIDEO_DUAL_UPLOAD]);

/**
 * Reads the better copy of a file. It changes the message that it is a copy of. Where that one is not there, it is stored
 * as that one, which is known already when it comes after all; where that one is something else, as a message of its own.
 * @returns undefined when the heard message is none
 */
export function betterCopyFromNetwork(heard: WAMessage, people: People): Addition | undefined {
  const association = openMessage(heard.message)?.contextInfo?.messageAssociation;
  const keyId = association?.parentMessageKey?.id;
  if (!keyId || !COPIES.has(association.associationType ?? 0)) return undefined;
  const read = readHeard(heard, people);
  const record = read && messageFromNetwork(heard, people);
  if (!read || !record) return undefined;
  const { type } = record.message;
  const file = record.message[type];
  return {
    target: { keyId, chatId: read.chatId },
    read: (first) => {
      if (!first) {
        const inPlaceOfFirst = messageFromNetwork({ ...heard, key: { ...heard.key, id: keyId } }, people);
        return { record: inPlaceOfFirst ?? record };
      }
      if (isStoredAs(first, record)) return undefined;
      const fits = first.message.type === type && first.message.from === read.base.from;
      if (!fits || typeof file !== 'object' || file === null) return { record };
      // The link led to the first file.
      const fields = { link: undefined, ...file };
      return {
        action: replacement(read, { id: first.message.id, keyId }, type, fields),
        file: { ...record, message: { ...record.message, id: first.message.id } },
      };
    },
  };
}

/** Was it stored in place of the first before? */
function isStoredAs(first: StoredMessage, { proto: bytes }: MessageRecord): boolean {
  return bytes !== undefined && first.proto !== undefined && Buffer.compare(first.proto, bytes) === 0;
}

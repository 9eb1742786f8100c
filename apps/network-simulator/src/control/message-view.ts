import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Network } from '../network/network.js';
import { attachmentOf } from '../phones/attachments.js';
import { decodeContent, describe, isViewOnce, unwrap } from '../phones/content.js';
import { targetOf } from '../phones/effects.js';
import { pollOptions, selectableOptions } from '../phones/poll-options.js';
import type { PhoneMessage } from '../phones/message-log.js';
import { offerIn } from '../phones/offers.js';
import { chatName } from '../phones/chat-name.js';

/** A message as the control API shows it: no raw bytes, and what its kind carries spelled out. */
export function messageView(network: Network, message: PhoneMessage): Record<string, unknown> {
  const { content: bytes, wireChat: _wireChat, wireAuthor: _wireAuthor, edit: _edit, ...rest } = message;
  const content = decodeContent(bytes);
  return { ...rest, ...details(network, content), ...(rest.type === 'unknown' && { content: nameOf(content) }) };
}

function details(network: Network, content: proto.IMessage): Record<string, unknown> {
  const inner = unwrap(content);
  const context = contextOf(inner);
  const file = attachmentOf(content)?.attachment;
  const location = inner.locationMessage;
  const target = targetOf(inner);
  const options = pollOptions(content);
  const offer = offerIn(inner);
  return {
    ...(file && {
      file: {
        mimetype: file.mimetype,
        length: Number(file.fileLength ?? 0),
        directPath: file.directPath,
        ...(inner.documentMessage?.fileName && { fileName: inner.documentMessage.fileName }),
        ...(inner.audioMessage?.seconds && { seconds: inner.audioMessage.seconds }),
      },
    }),
    ...(location && {
      location: {
        latitude: location.degreesLatitude,
        longitude: location.degreesLongitude,
        name: location.name ?? '',
        address: location.address ?? '',
      },
    }),
    ...(inner.contactMessage && { vcard: inner.contactMessage.vcard }),
    ...(inner.contactsArrayMessage && { vcards: inner.contactsArrayMessage.contacts?.map(({ vcard }) => vcard) }),
    ...(options.length > 0 && { options, selectable: selectableOptions(content) }),
    ...(offer && { offer }),
    ...(target?.id && { target: target.id }),
    ...(context?.stanzaId && { quoted: context.stanzaId }),
    ...(context?.quotedMessage && { quotedText: describe(context.quotedMessage).text }),
    ...(context?.mentionedJid?.length && { mentions: context.mentionedJid.map((jid) => chatName(network, jid)) }),
    ...(context?.isForwarded && { forwarded: true }),
    ...(context?.expiration && { ephemeralSeconds: context.expiration }),
    ...(isViewOnce(content) && { viewOnce: true }),
    ...(inner.extendedTextMessage?.matchedText && {
      preview: {
        url: inner.extendedTextMessage.matchedText,
        title: inner.extendedTextMessage.title ?? '',
        ...(inner.extendedTextMessage.thumbnailDirectPath && {
          width: inner.extendedTextMessage.thumbnailWidth,
          height: inner.extendedTextMessage.thumbnailHeight,
        }),
      },
    }),
    ...(inner.extendedTextMessage?.jpegThumbnail?.length && {
      previewPictureBytes: inner.extendedTextMessage.jpegThumbnail.length,
    }),
    ...(inner.groupInviteMessage && {
      invitation: { group: inner.groupInviteMessage.groupJid, code: inner.groupInviteMessage.inviteCode },
    }),
  };
}

/** The field of a content that has no name of its own here. */
function nameOf(content: proto.IMessage): string {
  const [name] =
    Object.entries(unwrap(content)).find(([field, value]) => value && field !== 'messageContextInfo') ?? [];
  return name ?? 'an empty message';
}

/** The context of whichever part has one: quotes, mentions, forwarding. */
function contextOf(content: proto.IMessage): proto.IContextInfo | undefined {
  for (const part of Object.values(content) as unknown[]) {
    if (typeof part !== 'object' || part === null || !('contextInfo' in part)) continue;
    if (part.contextInfo) return part.contextInfo;
  }
  return undefined;
}

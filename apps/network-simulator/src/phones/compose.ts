import { randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { Refusal } from '../network/refusal.js';
import { upload } from './attachments.js';
import { decodeContent, encodeContent, unwrap } from './content.js';
import { contextOfDressing, dressed, type Dressing } from './dressing.js';
import { composeKind, type KindDraft } from './kinds/catalogue.js';
import { keyOf, namingOf, storedMessage, type Composed } from './kinds/kind.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';

/** A file to be sent. */
export interface FileDraft {
  bytes: Buffer;
  mimetype?: string | undefined;
  fileName?: string | undefined;
  seconds?: number | undefined;
  width?: number | undefined;
  height?: number | undefined;
}

/** A message as somebody at the phone would put it together. Exactly one of the kinds, and how it is dressed. */
export interface Draft extends KindDraft, Dressing {
  text?: string | undefined;
  image?: FileDraft | undefined;
  video?: FileDraft | undefined;
  audio?: FileDraft | undefined;
  voice?: FileDraft | undefined;
  document?: FileDraft | undefined;
  sticker?: FileDraft | undefined;
  location?:
    { latitude: number; longitude: number; name?: string | undefined; address?: string | undefined } | undefined;
  contact?: { name: string; phone?: string | undefined; vcard?: string | undefined } | undefined;
  reaction?: { id: string; emoji: string } | undefined;
  edit?: { id: string; text: string } | undefined;
  delete?: { id: string } | undefined;
  forward?: { id: string } | undefined;
  preview?: { url: string; title?: string | undefined; description?: string | undefined } | undefined;
  caption?: string | undefined;
  quote?: string | undefined;
  mentions?: string[] | undefined;
  /** Can be opened once; `true`: in the oldest of the three wrappers. */
  viewOnce?: boolean | 'v2' | 'v2-extension' | undefined;
  /** The bytes of a whole message, for what has no name here. */
  protobuf?: Buffer | undefined;
}

/** What only changes, or adds to, another message. */
const CHANGES: readonly (keyof proto.IMessage)[] = [
  ...(['reactionMessage', 'protocolMessage', 'pollUpdateMessage', 'pinInChatMessage', 'keepInChatMessage'] as const),
  ...([
    'encEventResponseMessage',
    'encReactionMessage',
    'encCommentMessage',
    'secretEncryptedMessage',
    'call',
  ] as const),
];
const VIEW_ONCE = { v2: 'viewOnceMessageV2', 'v2-extension': 'viewOnceMessageV2Extension' } as const;

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

/** Turns a draft into content. Throws {@link Refusal} 400 (no kind), 404 (no such message), 403 (too late, not one's own). */
export function compose(phone: PhoneContext, chat: string, draft: Draft): Composed {
  if (draft.protobuf) return { content: decodeContent(draft.protobuf), bytes: draft.protobuf };
  const change = changeOf(phone, chat, draft);
  if (change) return change;
  const contextInfo = contextOf(phone, draft);
  const named = composeKind(draft, { phone, chat, contextInfo });
  const content = named?.content ?? fileContent(phone, draft, contextInfo) ?? plainContent(phone, draft, contextInfo);
  if (!content)
    throw new Refusal(400, 'Nothing to send: give text, image, video, audio, voice, document, sticker and so on.');
  const { viewOnce } = draft;
  const wrapper = viewOnce === true || !viewOnce ? 'viewOnceMessage' : VIEW_ONCE[viewOnce];
  const whole = withSecret(viewOnce ? { [wrapper]: { message: content } } : content);
  if (!named?.bytes) return { ...named, content: dressed(phone, chat, whole, draft) };
  const { messageContextInfo } = whole;
  if (whole !== dressed(phone, chat, whole, draft) || viewOnce) {
    throw new Refusal(400, 'This kind has fields that cannot be wrapped: leave out wrap, hdOf, albumOf and viewOnce.');
  }
  return { content: whole, bytes: Buffer.concat([named.bytes, encodeContent({ messageContextInfo })]) };
}

/**
 * Phones of today put a secret into all they send: with it others seal their edits, votes, reactions and comments. What only
 * changes another message has none.
 */
function withSecret(content: proto.IMessage): proto.IMessage {
  if (CHANGES.some((name) => content[name])) return content;
  return { ...content, messageContextInfo: { messageSecret: randomBytes(32), ...content.messageContextInfo } };
}

function plainContent(
  phone: PhoneContext,
  draft: Draft,
  contextInfo: proto.IContextInfo | undefined,
): proto.IMessage | undefined {
  const { location, contact, preview, text } = draft;
  if (location) {
    return {
      locationMessage: {
        degreesLatitude: location.latitude,
        degreesLongitude: location.longitude,
        contextInfo,
        ...(location.name !== undefined && { name: location.name }),
        ...(location.address !== undefined && { address: location.address }),
      },
    };
  }
  if (contact) {
    return { contactMessage: { displayName: contact.name, vcard: contact.vcard ?? vcard(contact), contextInfo } };
  }
  if (draft.forward) return forwarded(storedMessage(phone, draft.forward.id));
  if (text === undefined) return undefined;
  if (!contextInfo && !preview) return { conversation: text };
  return {
    extendedTextMessage: {
      text,
      contextInfo,
      ...(preview && { matchedText: preview.url, title: preview.title ?? '', description: preview.description ?? '' }),
    },
  };
}

function fileContent(
  phone: PhoneContext,
  draft: Draft,
  contextInfo: proto.IContextInfo | undefined,
): proto.IMessage | undefined {
  const { image, video, audio, voice, document, sticker, caption } = draft;
  const dressed = { contextInfo, ...(caption !== undefined && { caption }) };
  const size = (file: FileDraft) => ({ width: file.width ?? 0, height: file.height ?? 0 });
  if (image) {
    const file = upload(phone, image.bytes, 'Image');
    return { imageMessage: { ...file, mimetype: image.mimetype ?? 'image/jpeg', ...size(image), ...dressed } };
  }
  if (video) {
    const file = upload(phone, video.bytes, 'Video');
    const seconds = video.seconds ?? 0;
    return { videoMessage: { ...file, mimetype: video.mimetype ?? 'video/mp4', seconds, ...size(video), ...dressed } };
  }
  const sound = voice ?? audio;
  if (sound) {
    const file = upload(phone, sound.bytes, 'Audio');
    const mimetype = sound.mimetype ?? (voice ? 'audio/ogg; codecs=opus' : 'audio/mpeg');
    return { audioMessage: { ...file, mimetype, seconds: sound.seconds ?? 0, ptt: voice !== undefined, contextInfo } };
  }
  if (document) {
    const file = upload(phone, document.bytes, 'Document');
    const fileName = document.fileName ?? 'file';
    const mimetype = document.mimetype ?? 'application/octet-stream';
    return { documentMessage: { ...file, mimetype, fileName, title: fileName, ...dressed } };
  }
  if (sticker) {
    const file = upload(phone, sticker.bytes, 'Image');
    return { stickerMessage: { ...file, mimetype: sticker.mimetype ?? 'image/webp', ...size(sticker), contextInfo } };
  }
  return undefined;
}

/** Drafts that change another message. */
function changeOf(phone: PhoneContext, chat: string, draft: Draft): Composed | undefined {
  const { reaction, edit } = draft;
  if (reaction) {
    const key = keyOf(phone, storedMessage(phone, reaction.id), chat);
    return { content: { reactionMessage: { key, text: reaction.emoji, senderTimestampMs: phone.network.now() } } };
  }
  if (edit) {
    const target = own(phone, edit.id, phone.network.options.windows.editSeconds);
    const key = keyOf(phone, target, chat);
    const editedMessage = { conversation: edit.text };
    return {
      content: { protocolMessage: { type: MESSAGE_EDIT, key, editedMessage, timestampMs: phone.network.now() } },
      edit: '1',
    };
  }
  if (draft.delete) {
    const target = deletable(phone, draft.delete.id);
    const key = keyOf(phone, target, chat);
    return { content: { protocolMessage: { type: REVOKE, key } }, edit: target.fromMe ? '7' : '8' };
  }
  return undefined;
}

function contextOf(phone: PhoneContext, draft: Draft): proto.IContextInfo | undefined {
  const context = contextOfDressing(draft) ?? {};
  if (draft.quote !== undefined) {
    const quoted = storedMessage(phone, draft.quote);
    context.stanzaId = quoted.id;
    context.participant =
      phone.network.accounts.find(quoted.from)?.jidLike(namingOf(phone, quoted.wireChat)) ?? quoted.from;
    context.quotedMessage = decodeContent(quoted.content);
  }
  if (draft.mentions?.length) {
    context.mentionedJid = draft.mentions.map((who) =>
      who.includes('@') ? who : `${who.replace(/\D/g, '')}@s.whatsapp.net`,
    );
  }
  return Object.keys(context).length > 0 ? context : undefined;
}

function forwarded(message: PhoneMessage): proto.IMessage {
  const content = unwrap(decodeContent(encodeContent(decodeContent(message.content))));
  const contextInfo = { isForwarded: true, forwardingScore: 1 };
  if (content.conversation !== null && content.conversation !== undefined && content.conversation !== '') {
    return { extendedTextMessage: { text: content.conversation, contextInfo } };
  }
  for (const part of Object.values(content) as unknown[]) {
    if (typeof part === 'object' && part !== null && 'contextInfo' in part) Object.assign(part, { contextInfo });
  }
  return content;
}

function own(phone: PhoneContext, id: string, windowSeconds: number): PhoneMessage {
  const message = storedMessage(phone, id);
  if (!message.fromMe) throw new Refusal(403, 'That message is not your own.');
  if (Number(phone.network.timestamp()) - message.timestamp > windowSeconds)
    throw new Refusal(403, 'It is too late for that.');
  return message;
}

function deletable(phone: PhoneContext, id: string): PhoneMessage {
  const message = storedMessage(phone, id);
  if (phone.network.groups.find(message.chat)?.isAdmin(phone.account.lid)) return message;
  return own(phone, id, phone.network.options.windows.deleteSeconds);
}

function vcard({ name, phone }: { name: string; phone?: string | undefined }): string {
  const number = phone === undefined ? '' : `TEL;type=CELL;waid=${phone}:+${phone}\n`;
  return `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\n${number}END:VCARD`;
}

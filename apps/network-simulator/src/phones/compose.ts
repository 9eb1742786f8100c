import { randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { Refusal } from '../network/refusal.js';
import { isGroupJid, parseJid } from '../wire/jid.js';
import { upload } from './attachments.js';
import { decodeContent, encodeContent, unwrap } from './content.js';
import { pollOptions } from './effects.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';
import { sealVote } from './poll-votes.js';

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
export interface Draft {
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
  poll?: { name: string; options: string[]; selectable?: number | undefined } | undefined;
  vote?: { id: string; options: string[] } | undefined;
  reaction?: { id: string; emoji: string } | undefined;
  edit?: { id: string; text: string } | undefined;
  delete?: { id: string } | undefined;
  forward?: { id: string } | undefined;
  preview?: { url: string; title?: string | undefined; description?: string | undefined } | undefined;
  caption?: string | undefined;
  quote?: string | undefined;
  mentions?: string[] | undefined;
  viewOnce?: boolean | undefined;
}

export interface Composed {
  content: proto.IMessage;
  /** The stanza's `edit` attribute. */
  edit?: string;
}

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

/** Turns a draft into content. Throws {@link Refusal} 400 (no kind), 404 (no such message), 403 (too late, not one's own). */
export function compose(phone: PhoneContext, chat: string, draft: Draft): Composed {
  const change = changeOf(phone, chat, draft);
  if (change) return change;
  const context = contextOf(phone, draft);
  const content = fileContent(phone, draft, context) ?? plainContent(phone, draft, context);
  if (!content)
    throw new Refusal(400, 'Nothing to send: give text, image, video, audio, voice, document, sticker and so on.');
  return { content: draft.viewOnce ? { viewOnceMessage: { message: content } } : content };
}

function plainContent(
  phone: PhoneContext,
  draft: Draft,
  contextInfo: proto.IContextInfo | undefined,
): proto.IMessage | undefined {
  const { location, contact, poll, preview, text } = draft;
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
  if (poll) {
    return {
      pollCreationMessageV3: {
        name: poll.name,
        options: poll.options.map((optionName) => ({ optionName })),
        selectableOptionsCount: poll.selectable ?? 1,
        contextInfo,
      },
      messageContextInfo: { messageSecret: randomBytes(32) },
    };
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
  const { reaction, edit, vote } = draft;
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
  return vote && { content: voteContent(phone, chat, vote) };
}

function voteContent(phone: PhoneContext, chat: string, vote: { id: string; options: string[] }): proto.IMessage {
  const poll = storedMessage(phone, vote.id);
  const content = decodeContent(poll.content);
  const secret = content.messageContextInfo?.messageSecret;
  if (!secret) throw new Refusal(400, 'That message is no poll.');
  const unknown = vote.options.find((option) => !pollOptions(content).includes(option));
  if (unknown !== undefined) throw new Refusal(400, `The poll has no option ${unknown}.`);
  const server = namingOf(phone, chat);
  const creator = phone.network.accounts.find(poll.from)?.jidLike(server) ?? poll.from;
  const context = { pollId: poll.id, secret, creator, voter: phone.account.jidLike(server) };
  return {
    pollUpdateMessage: {
      pollCreationMessageKey: keyOf(phone, poll, chat),
      vote: sealVote(vote.options, context),
      senderTimestampMs: phone.network.now(),
    },
  };
}

/** The name of a message as its receivers know it: from the sender's point of view. */
function keyOf(phone: PhoneContext, message: PhoneMessage, chat: string): proto.IMessageKey {
  const author = phone.network.accounts.find(message.from);
  return {
    remoteJid: chat,
    id: message.id,
    fromMe: message.fromMe,
    ...(isGroupJid(chat) && !message.fromMe && author && { participant: author.jidLike(namingOf(phone, chat)) }),
  };
}

function contextOf(phone: PhoneContext, draft: Draft): proto.IContextInfo | undefined {
  if (draft.quote === undefined && !draft.mentions?.length) return undefined;
  const context: proto.IContextInfo = {};
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
  return context;
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

/** Which server's addresses a chat uses. */
export function namingOf(phone: PhoneContext, chat: string): string {
  if (!isGroupJid(chat)) return parseJid(chat).server;
  return phone.network.groups.find(chat)?.state.addressing === 'pn' ? 's.whatsapp.net' : 'lid';
}

function storedMessage(phone: PhoneContext, id: string): PhoneMessage {
  const message = phone.messages.get(id);
  if (!message) throw new Refusal(404, `The phone has no message ${id}.`);
  return message;
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

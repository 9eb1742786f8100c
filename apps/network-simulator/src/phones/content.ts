import { proto } from '@whiskeysockets/baileys/WAProto/index.js';

/** What a message is, for people: its kind and the words in it. */
export interface Described {
  type: string;
  text: string;
}

type Content = proto.IMessage;

/** Kinds by the field that holds them, in the order in which they are looked for. */
const KINDS: [keyof Content, string, (content: Content) => string | null | undefined][] = [
  ['conversation', 'text', (m) => m.conversation],
  ['extendedTextMessage', 'text', (m) => m.extendedTextMessage?.text],
  ['imageMessage', 'image', (m) => m.imageMessage?.caption],
  ['ptvMessage', 'video_note', () => ''],
  ['videoMessage', 'video', (m) => m.videoMessage?.caption],
  ['audioMessage', 'audio', () => ''],
  ['documentMessage', 'document', (m) => m.documentMessage?.caption ?? m.documentMessage?.fileName],
  ['stickerMessage', 'sticker', () => ''],
  ['locationMessage', 'location', (m) => m.locationMessage?.name],
  ['liveLocationMessage', 'live_location', (m) => m.liveLocationMessage?.caption],
  ['contactMessage', 'contact', (m) => m.contactMessage?.displayName || nameIn(m.contactMessage?.vcard)],
  ['contactsArrayMessage', 'contacts', (m) => m.contactsArrayMessage?.displayName],
  ['pollCreationMessage', 'poll', (m) => m.pollCreationMessage?.name],
  ['pollCreationMessageV2', 'poll', (m) => m.pollCreationMessageV2?.name],
  ['pollCreationMessageV3', 'poll', (m) => m.pollCreationMessageV3?.name],
  ['pollUpdateMessage', 'poll_vote', () => ''],
  ['reactionMessage', 'reaction', (m) => m.reactionMessage?.text],
  ['groupInviteMessage', 'group_invite', (m) => m.groupInviteMessage?.caption],
  ['eventMessage', 'event', (m) => m.eventMessage?.name],
  ['pinInChatMessage', 'pin', () => ''],
  ['protocolMessage', 'protocol', () => ''],
];

/** The name on a contact card. */
function nameIn(vcard: string | null | undefined): string {
  return /^FN:(.*)$/m.exec(vcard ?? '')?.[1]?.trim() ?? '';
}

/** Takes off the wrappers (view once, disappearing, document with caption, edited). */
export function unwrap(content: Content): Content {
  const inner =
    content.ephemeralMessage?.message ??
    content.viewOnceMessage?.message ??
    content.viewOnceMessageV2?.message ??
    content.viewOnceMessageV2Extension?.message ??
    content.documentWithCaptionMessage?.message ??
    content.editedMessage?.message;
  return inner ? unwrap(inner) : content;
}

/** Whether the content is to be seen once. */
export function isViewOnce(content: Content): boolean {
  const inner = unwrap(content);
  return Boolean(
    content.viewOnceMessage ??
    content.viewOnceMessageV2 ??
    content.viewOnceMessageV2Extension ??
    (inner.imageMessage?.viewOnce || inner.videoMessage?.viewOnce || inner.audioMessage?.viewOnce),
  );
}

export function describe(content: Content): Described {
  const inner = unwrap(content);
  for (const [field, type, text] of KINDS) {
    if (inner[field] === null || inner[field] === undefined) continue;
    if (field === 'audioMessage' && inner.audioMessage?.ptt) return { type: 'voice', text: '' };
    return { type, text: text(inner) ?? '' };
  }
  return { type: 'unknown', text: '' };
}

/** What the stanza around a message calls its kind. */
export function stanzaType(content: Content): string {
  const { type } = describe(content);
  if (type === 'reaction') return 'reaction';
  if (type === 'poll' || type === 'poll_vote') return 'poll';
  if (type === 'event') return 'event';
  return type === 'text' || type === 'protocol' || type === 'pin' || type === 'unknown' || type === 'group_invite'
    ? 'text'
    : 'media';
}

export function encodeContent(content: Content): Buffer {
  return Buffer.from(proto.Message.encode(content).finish());
}

export function decodeContent(bytes: Uint8Array): proto.Message {
  return proto.Message.decode(bytes);
}

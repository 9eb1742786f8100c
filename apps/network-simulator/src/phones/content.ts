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
  ['pollCreationMessageV5', 'poll', (m) => m.pollCreationMessageV5?.name],
  ['pollUpdateMessage', 'poll_vote', () => ''],
  ['reactionMessage', 'reaction', (m) => m.reactionMessage?.text],
  ['groupInviteMessage', 'group_invite', (m) => m.groupInviteMessage?.caption],
  ['eventMessage', 'event', (m) => m.eventMessage?.name],
  ['pinInChatMessage', 'pin', () => ''],
  ['keepInChatMessage', 'keep', () => ''],
  ['protocolMessage', 'protocol', () => ''],
  ['encEventResponseMessage', 'event_answer', () => ''],
  ['encReactionMessage', 'sealed_reaction', () => ''],
  ['encCommentMessage', 'comment', () => ''],
  ['secretEncryptedMessage', 'sealed_edit', () => ''],
  ['templateMessage', 'template', (m) => m.templateMessage?.hydratedTemplate?.hydratedContentText],
  ['templateButtonReplyMessage', 'template_answer', (m) => m.templateButtonReplyMessage?.selectedDisplayText],
  ['interactiveMessage', 'interactive', (m) => m.interactiveMessage?.body?.text],
  ['interactiveResponseMessage', 'interactive_answer', (m) => m.interactiveResponseMessage?.body?.text],
  ['buttonsMessage', 'buttons', (m) => m.buttonsMessage?.contentText],
  ['buttonsResponseMessage', 'button_answer', (m) => m.buttonsResponseMessage?.selectedDisplayText],
  ['listMessage', 'list', (m) => m.listMessage?.description],
  ['listResponseMessage', 'list_answer', (m) => m.listResponseMessage?.title],
  ['highlyStructuredMessage', 'template', () => ''],
  ['productMessage', 'product', (m) => m.productMessage?.product?.title],
  ['orderMessage', 'order', (m) => m.orderMessage?.message],
  ['albumMessage', 'album', () => ''],
  ['callLogMesssage', 'call_log', () => ''],
  ['call', 'call_key', () => ''],
  ['requestPhoneNumberMessage', 'request_number', () => ''],
  ['stickerPackMessage', 'sticker_pack', (m) => m.stickerPackMessage?.name],
  ['scheduledCallCreationMessage', 'scheduled_call', (m) => m.scheduledCallCreationMessage?.title],
  ['newsletterAdminInviteMessage', 'newsletter_invite', (m) => m.newsletterAdminInviteMessage?.caption],
  ['pollResultSnapshotMessage', 'poll_result', (m) => m.pollResultSnapshotMessage?.name],
  ['requestPaymentMessage', 'payment', () => ''],
  ['sendPaymentMessage', 'payment', () => ''],
  ['paymentInviteMessage', 'payment', () => ''],
  ['senderKeyDistributionMessage', 'keys', () => ''],
];

/** Kinds that are no messages of their own: they change or add to another one, or are nothing to show. */
export const ADDITIONS: readonly string[] = [
  ...[
    'protocol',
    'poll_vote',
    'reaction',
    'sealed_reaction',
    'sealed_edit',
    'event_answer',
    'pin',
    'keep',
    'keys',
    'call_key',
  ],
];

/** Fields that hold another message and nothing else. */
export const WRAPPERS = [
  'ephemeralMessage',
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'documentWithCaptionMessage',
  'editedMessage',
  'groupMentionedMessage',
  'botInvokeMessage',
  'lottieStickerMessage',
  'eventCoverImage',
  'statusMentionMessage',
  'pollCreationOptionImageMessage',
  'associatedChildMessage',
  'groupStatusMentionMessage',
  'pollCreationMessageV4',
  'statusAddYours',
  'groupStatusMessage',
  'limitSharingMessage',
  'botTaskMessage',
  'questionMessage',
  'groupStatusMessageV2',
  'botForwardedMessage',
  'questionReplyMessage',
] as const satisfies readonly (keyof Content)[];

/** Kinds whose stanza declares a file in it, or something that is shown like one (whatsmeow, send.go). */
const MEDIA_KINDS = new Set([
  ...[
    'image',
    'video',
    'video_note',
    'audio',
    'voice',
    'document',
    'sticker',
    'sticker_pack',
    'location',
    'live_location',
  ],
  ...['contact', 'contacts', 'list', 'list_answer', 'button_answer', 'order', 'product', 'interactive_answer'],
]);

/** The name on a contact card. */
function nameIn(vcard: string | null | undefined): string {
  return /^FN:(.*)$/m.exec(vcard ?? '')?.[1]?.trim() ?? '';
}

/** Takes off the wrappers (view once, disappearing, document with caption, edited and so on). */
export function unwrap(content: Content): Content {
  for (const name of WRAPPERS) {
    const inner = content[name]?.message;
    if (inner) return unwrap(inner);
  }
  return content;
}

/** Whether there is anything in it besides keys: for people, or for the phone. */
export function hasContent(content: Content): boolean {
  const { type } = describe(content);
  return type !== 'keys' && type !== 'unknown';
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
  if (type === 'reaction' || type === 'sealed_reaction') return 'reaction';
  if (type === 'poll' || type === 'poll_vote') return 'poll';
  if (type === 'event' || type === 'event_answer') return 'event';
  return MEDIA_KINDS.has(type) ? 'media' : 'text';
}

export function encodeContent(content: Content): Buffer {
  return Buffer.from(proto.Message.encode(content).finish());
}

export function decodeContent(bytes: Uint8Array): proto.Message {
  return proto.Message.decode(bytes);
}

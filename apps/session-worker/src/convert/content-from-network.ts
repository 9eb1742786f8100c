/** The content of a message as customers see it: one reader for each part of the network's Message with content. */
import type { LinkPreviewContent } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { chosenButton, chosenRow, interactiveAnswer } from './choice-content.js';
import { interactive } from './interactive-content.js';
import { audioContent, documentContent, imageContent, stickerContent, videoContent } from './media-content.js';
import { PARTS, SIGNALS, type Part } from './message-parts.js';
import {
  adminInvite,
  groupInvite,
  newsletterInvite,
  order,
  plannedCall,
  plannedEvent,
  product,
} from './offer-content.js';
import { openMessage, type OpenedMessage } from './opened-message.js';
import { contactContent, liveLocationContent, locationContent } from './place-content.js';
import { pollContent, pollResults } from './poll-content.js';
import { present, toPreview } from './present.js';
import { content, type Content, type Reading } from './reading.js';
import { buttonsMessage, list, structured, template } from './template-content.js';
import { unknownPartsOf } from './unknown-parts.js';

/** Reads a part that the message has; undefined when the part has no content. */
type Reader<Name extends Part> = (part: NonNullable<proto.IMessage[Name]>, reading: Reading) => Content | undefined;

const READERS: { [Name in Part]?: Reader<Name> } = {
  conversation: (text) => (text === '' ? undefined : content('text', { body: text }, undefined)),
  extendedTextMessage: extendedText,
  imageMessage: (image, { mediaId }) => content('image', imageContent(image, mediaId), image.contextInfo),
  videoMessage: (video, { mediaId }) =>
    content(video.gifPlayback ? 'gif' : 'video', videoContent(video, mediaId), video.contextInfo),
  ptvMessage: (round, { mediaId }) => content('short', videoContent(round, mediaId), round.contextInfo),
  audioMessage: (audio, { mediaId }) =>
    content(audio.ptt ? 'voice' : 'audio', audioContent(audio, mediaId), audio.contextInfo),
  documentMessage: (document, { mediaId }) =>
    content('document', documentContent(document, mediaId), document.contextInfo),
  stickerMessage: (sticker, { mediaId }) => content('sticker', stickerContent(sticker, mediaId), sticker.contextInfo),
  locationMessage: (place) => content('location', locationContent(place), place.contextInfo),
  liveLocationMessage: (live) => content('live_location', liveLocationContent(live), live.contextInfo),
  contactMessage: (person) => content('contact', contactContent(person), person.contextInfo),
  contactsArrayMessage: ({ contacts, contextInfo }) =>
    content('contact_list', { list: (contacts ?? []).map(contactContent) }, contextInfo),
  templateMessage: template,
  highlyStructuredMessage: structured,
  buttonsMessage,
  listMessage: list,
  interactiveMessage: interactive,
  listResponseMessage: chosenRow,
  buttonsResponseMessage: ({ selectedButtonId, selectedDisplayText, contextInfo }) =>
    chosenButton(selectedButtonId, selectedDisplayText, contextInfo),
  templateButtonReplyMessage: ({ selectedId, selectedDisplayText, contextInfo }) =>
    chosenButton(selectedId, selectedDisplayText, contextInfo),
  interactiveResponseMessage: interactiveAnswer,
  productMessage: product,
  orderMessage: order,
  eventMessage: plannedEvent,
  scheduledCallCreationMessage: plannedCall,
  groupInviteMessage: groupInvite,
  newsletterFollowerInviteMessageV2: newsletterInvite,
  newsletterAdminInviteMessage: adminInvite,
  questionResponseMessage: textAnswer,
  statusQuestionAnswerMessage: textAnswer,
  statusQuotedMessage: textAnswer,
  richResponseMessage: ({ submessages, contextInfo }) => {
    const texts = (submessages ?? []).flatMap(({ messageText }) => messageText || []);
    return texts.length === 0 ? undefined : content('text', { body: texts.join('\n') }, contextInfo);
  },
};

/** Reads any part by name. */
type AnyReader = (part: unknown, reading: Reading) => Content | undefined;

const readers: ReadonlyMap<string, AnyReader> = new Map([
  ...PARTS.filter((name) => /^pollCreationMessage(V\d+)?$/.test(name)).map((name) => [name, poll] as const),
  ...PARTS.filter((name) => /^pollResultSnapshotMessage(V\d+)?$/.test(name)).map((name) => [name, results] as const),
  ...(Object.entries(READERS) as [string, AnyReader][]),
]);

function poll(part: unknown): Content {
  const creation = part as proto.Message.IPollCreationMessage;
  return content('poll', pollContent(creation), creation.contextInfo);
}

function results(part: unknown): Content {
  const snapshot = part as proto.Message.IPollResultSnapshotMessage;
  return content('poll', pollResults(snapshot), snapshot.contextInfo);
}

/**
 * Reads the content of a message, in whichever wrappers it came.
 * @returns undefined when the message has no content for a person (it distributes keys, or announces an album)
 */
export function contentFromNetwork(message: proto.IMessage | null | undefined, reading: Reading): Content | undefined {
  const opened = openMessage(message);
  if (!opened) return undefined;
  for (const [name, part] of Object.entries(opened.content) as [string, unknown][]) {
    const found = part === null || part === undefined ? undefined : readers.get(name)?.(part, reading);
    if (found) return isViewOnce(opened) ? viewOnce(found) : found;
  }
  return unknownContent(opened.content);
}

/**
 * The content of a message that no reader knows: type `unknown`, with the name of its part as subtype, or the number of
 * the part if it is newer than this build of the library.
 */
function unknownContent(message: proto.IMessage): Content | undefined {
  const names = Object.entries(message)
    .filter(([, part]) => part !== null && part !== undefined && part !== '')
    .map(([name]) => name)
    .filter((name) => !SIGNALS.has(name));
  const [name = unknownPartsOf(message).map((number) => `field ${number}`)[0]] = names;
  return name === undefined ? undefined : { type: 'unknown', subtype: name, fields: {}, contextInfo: undefined };
}

function extendedText(text: proto.Message.IExtendedTextMessage): Content {
  if (!text.matchedText) return content('text', { body: text.text ?? '' }, text.contextInfo);
  const preview: LinkPreviewContent = {
    body: text.text ?? '',
    ...present<Partial<LinkPreviewContent>>({
      url: text.matchedText,
      title: text.title,
      description: text.description,
      preview: toPreview(text.jpegThumbnail),
    }),
  };
  return content('link_preview', preview, text.contextInfo);
}

function textAnswer({ text }: { text?: string | null }): Content | undefined {
  return text ? content('text', { body: text }, undefined) : undefined;
}

function isViewOnce({ wrappers, content: inner }: OpenedMessage): boolean {
  const part = inner.imageMessage ?? inner.videoMessage ?? inner.audioMessage ?? inner.extendedTextMessage;
  return wrappers.some((name) => name.startsWith('viewOnceMessage')) || part?.viewOnce === true;
}

function viewOnce(found: Content): Content {
  const value = found.fields[found.type];
  if (typeof value !== 'object' || value === null) return found;
  return { ...found, fields: { [found.type]: { ...value, view_once: true } } };
}

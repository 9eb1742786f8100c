/** What a message says, as customers see it. */
import { createHash } from 'node:crypto';
import type {
  ContactContent,
  LinkPreviewContent,
  LiveLocationContent,
  LocationContent,
  Message,
  MessageType,
  PlannedEventContent,
  PollContent,
  ReplyContent,
} from '@dormouse/gateway-contract';
import { normalizeMessageContent, type proto } from '@whiskeysockets/baileys';
import {
  audioContent,
  documentContent,
  imageContent,
  stickerContent,
  videoContent,
  type MediaIdOf,
} from './media-content.js';
import { present, toNumber, toPreview } from './present.js';

/** A message's type with what stands under its name in the wire shape. */
export interface Content {
  type: MessageType;
  fields: Partial<Message>;
  /** Quotes, mentions and forwards, in the network's form. */
  contextInfo: proto.IContextInfo | undefined;
}

/**
 * Converts what a message says. Wrappers (disappearing, view once, document with caption) are opened first.
 * @returns undefined when the message says nothing to a person (keys handed out, an album's cover sheet)
 */
export function contentFromNetwork(message: proto.IMessage, mediaId: MediaIdOf): Content | undefined {
  const inner = normalizeMessageContent(message);
  if (!inner) return undefined;
  const found = mediaOf(inner, mediaId) ?? textOf(inner) ?? placeOrPerson(inner) ?? choice(inner) ?? offer(inner);
  if (found) return isViewOnce(message, inner) ? viewOnce(found) : found;
  return saysNothing(inner) ? undefined : { type: 'unknown', fields: {}, contextInfo: undefined };
}

function content<Type extends MessageType>(
  type: Type,
  value: Message[Type],
  contextInfo: proto.IContextInfo | null | undefined,
): Content {
  return { type, fields: { [type]: value }, contextInfo: contextInfo ?? undefined };
}

function mediaOf(message: proto.IMessage, mediaId: MediaIdOf): Content | undefined {
  const { imageMessage: image, videoMessage: video, ptvMessage: round, audioMessage: audio } = message;
  const { documentMessage: document, lottieStickerMessage: lottie } = message;
  const sticker = message.stickerMessage ?? lottie?.message?.stickerMessage;
  if (image) return content('image', imageContent(image, mediaId), image.contextInfo);
  if (video) return content(video.gifPlayback ? 'gif' : 'video', videoContent(video, mediaId), video.contextInfo);
  if (round) return content('short', videoContent(round, mediaId), round.contextInfo);
  if (audio) return content(audio.ptt ? 'voice' : 'audio', audioContent(audio, mediaId), audio.contextInfo);
  if (document) return content('document', documentContent(document, mediaId), document.contextInfo);
  if (sticker) return content('sticker', stickerContent(sticker, mediaId), sticker.contextInfo);
  return undefined;
}

function textOf({ conversation, extendedTextMessage: text, groupInviteMessage: invite }: proto.IMessage) {
  if (text) {
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
  if (invite) {
    const value: LinkPreviewContent = {
      body: invite.caption ?? '',
      ...present<Partial<LinkPreviewContent>>({
        title: invite.groupName,
        invite_code: invite.inviteCode,
        preview: toPreview(invite.jpegThumbnail),
      }),
    };
    return content('group_invite', value, invite.contextInfo);
  }
  return typeof conversation === 'string' && conversation !== ''
    ? content('text', { body: conversation }, undefined)
    : undefined;
}

function placeOrPerson(message: proto.IMessage): Content | undefined {
  const { locationMessage: place, liveLocationMessage: live, contactMessage: person } = message;
  const people = message.contactsArrayMessage;
  if (place?.isLive !== true && place) return content('location', locationContent(place), place.contextInfo);
  if (live) return content('live_location', liveLocationContent(live), live.contextInfo);
  if (person) return content('contact', vcard(person), person.contextInfo);
  if (people) return content('contact_list', { list: (people.contacts ?? []).map(vcard) }, people.contextInfo);
  return undefined;
}

function locationContent(place: proto.Message.ILocationMessage): LocationContent {
  return {
    latitude: place.degreesLatitude ?? 0,
    longitude: place.degreesLongitude ?? 0,
    ...present<Partial<LocationContent>>({
      name: place.name,
      address: place.address,
      url: place.url,
      comment: place.comment,
      accuracy: place.accuracyInMeters || undefined,
      preview: toPreview(place.jpegThumbnail),
    }),
  };
}

function liveLocationContent(live: proto.Message.ILiveLocationMessage): LiveLocationContent {
  return {
    latitude: live.degreesLatitude ?? 0,
    longitude: live.degreesLongitude ?? 0,
    ...present<Partial<LiveLocationContent>>({
      caption: live.caption,
      accuracy: live.accuracyInMeters,
      speed: live.speedInMps === null || live.speedInMps === undefined ? undefined : Math.round(live.speedInMps),
      degrees: live.degreesClockwiseFromMagneticNorth,
      sequence_number: toNumber(live.sequenceNumber),
      time_offset: live.timeOffset,
      preview: toPreview(live.jpegThumbnail),
    }),
  };
}

function vcard({ displayName, vcard: card }: proto.Message.IContactMessage): ContactContent {
  return present<ContactContent>({ name: displayName, vcard: card });
}

function choice(message: proto.IMessage): Content | undefined {
  const poll =
    message.pollCreationMessage ??
    message.pollCreationMessageV2 ??
    message.pollCreationMessageV3 ??
    message.pollCreationMessageV4?.message?.pollCreationMessage;
  if (poll) return content('poll', pollContent(poll), poll.contextInfo);
  const { listResponseMessage: list, buttonsResponseMessage: button, templateButtonReplyMessage: template } = message;
  if (list) {
    const row = { id: list.singleSelectReply?.selectedRowId, title: list.title, description: list.description };
    const value: ReplyContent = {
      type: 'list_reply',
      list_reply: present<NonNullable<ReplyContent['list_reply']>>(row),
    };
    return content('reply', value, list.contextInfo);
  }
  if (button) return reply(button.selectedButtonId, button.selectedDisplayText, button.contextInfo);
  if (template) return reply(template.selectedId, template.selectedDisplayText, template.contextInfo);
  return undefined;
}

function reply(
  id: string | null | undefined,
  title: string | null | undefined,
  contextInfo: proto.IContextInfo | null | undefined,
): Content {
  const value = present<NonNullable<ReplyContent['buttons_reply']>>({ id, title });
  return content('reply', { type: 'buttons_reply', buttons_reply: value }, contextInfo);
}

/** Votes name an option by the hash of its text; that is its id here too. */
export function pollOptionId(name: string): string {
  return createHash('sha256').update(name).digest('base64');
}

function pollContent(poll: proto.Message.IPollCreationMessage): PollContent {
  const options = (poll.options ?? []).map(({ optionName }) => optionName ?? '');
  return {
    title: poll.name ?? '',
    options,
    vote_limit: poll.selectableOptionsCount ?? 0,
    total: 0,
    results: options.map((name) => ({ id: pollOptionId(name), name, count: 0, voters: [] })),
  };
}

function offer(message: proto.IMessage): Content | undefined {
  const { productMessage: product, orderMessage: order, eventMessage: event } = message;
  if (product) {
    const catalog = /^\d+/.exec(product.businessOwnerJid ?? '')?.[0];
    const value = present<{ catalog_id: string; product_id: string }>({
      catalog_id: catalog,
      product_id: product.product?.productId,
    });
    return content('product', value, product.contextInfo);
  }
  if (order) {
    const price = toNumber(order.totalAmount1000);
    const value = present<NonNullable<Message['order']>>({
      order_id: order.orderId,
      title: order.orderTitle,
      text: order.message,
      token: order.token,
      item_count: order.itemCount,
      currency: order.totalCurrencyCode,
      total_price: price === undefined ? undefined : price / 1_000,
      seller: /^\d+/.exec(order.sellerJid ?? '')?.[0],
      preview: toPreview(order.thumbnail),
      status: undefined,
    });
    return content('order', value, order.contextInfo);
  }
  if (event) {
    const value = present<PlannedEventContent>({
      name: event.name,
      description: event.description,
      join_link: event.joinLink,
      is_canceled: event.isCanceled,
      start: toNumber(event.startTime),
      responses: undefined,
    });
    return content('event', value, event.contextInfo);
  }
  return undefined;
}

function isViewOnce(outer: proto.IMessage, inner: proto.IMessage): boolean {
  const wrapped = outer.viewOnceMessage ?? outer.viewOnceMessageV2 ?? outer.viewOnceMessageV2Extension;
  const media = inner.imageMessage ?? inner.videoMessage ?? inner.audioMessage;
  return Boolean(wrapped) || media?.viewOnce === true;
}

function viewOnce({ type, fields, contextInfo }: Content): Content {
  const value = fields[type];
  if (typeof value !== 'object' || value === null) return { type, fields, contextInfo };
  return { type, fields: { [type]: { ...value, view_once: true } }, contextInfo };
}

/** Parts of messages that carry nothing for a person, when nothing else is there. */
const SILENT_PARTS = [
  'messageContextInfo',
  'senderKeyDistributionMessage',
  'fastRatchetKeySenderKeyDistributionMessage',
  'protocolMessage',
  'reactionMessage',
  'encReactionMessage',
  'pollUpdateMessage',
  'keepInChatMessage',
  'pinInChatMessage',
  'albumMessage',
  'stickerSyncRmrMessage',
  'messageHistoryBundle',
  'messageHistoryNotice',
  'placeholderMessage',
] as const;

function saysNothing(message: proto.IMessage): boolean {
  return Object.entries(message).every(
    ([part, value]) =>
      value === null || value === undefined || value === '' || SILENT_PARTS.some((name) => name === part),
  );
}

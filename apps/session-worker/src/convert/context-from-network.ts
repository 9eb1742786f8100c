import type { AdContext, MessageContext } from '@dormouse/gateway-contract';
import { proto } from '@whiskeysockets/baileys';
import { contentFromNetwork } from './content-from-network.js';
import { chatIdOfKey } from './jid.js';
import { toMessageId } from './message-id.js';
import { withNames } from './names-in-text.js';
import { contactOf, isOwn, type People } from './people.js';
import { present, toBase64, toNumber, toPreview } from './present.js';
import { readingOf } from './reading.js';

/**
 * Quotes, mentions and forwards as customers see them.
 * @param chatId the chat of the message that has this context
 */
export function contextFromNetwork(
  info: proto.IContextInfo | undefined,
  chatId: string,
  people: People,
): MessageContext | undefined {
  if (!info) return undefined;
  const mentioned = (info.mentionedJid ?? []).flatMap((jid) => contactOf(jid, people) ?? groupMention(jid));
  const groups = (info.groupMentions ?? []).flatMap(({ groupJid }) => groupMention(groupJid ?? ''));
  const mentions = [...new Set([...mentioned, ...groups])];
  const context = {
    ...present<MessageContext>({
      forwarded: info.isForwarded || undefined,
      forwarding_score: info.forwardingScore || undefined,
      mentions: mentions.length > 0 ? mentions : undefined,
      ephemeral: info.expiration || undefined,
      ad: adFromNetwork(info),
      conversion: conversionFromNetwork(info),
    }),
    ...quoteFromNetwork(info, chatId, people),
  };
  return Object.keys(context).length > 0 ? context : undefined;
}

/** Groups can be mentioned in communities. */
function groupMention(jid: string): string[] {
  return jid.endsWith('@g.us') ? [jid] : [];
}

/** A reply names the quoted message by the network's id, its author, and (when it came from elsewhere) its chat. */
function quoteFromNetwork(info: proto.IContextInfo, chatId: string, people: People): MessageContext {
  if (!info.stanzaId) return {};
  const quotedChat = (info.remoteJid && chatIdOfKey({ remoteJid: info.remoteJid }, people.numbers)) || chatId;
  const fromMe = isOwn(info.participant, people);
  const author = contactOf(info.participant, people);
  const inGroup = quotedChat.endsWith('@g.us');
  const id = toMessageId({
    keyId: info.stanzaId,
    fromMe,
    chatId: quotedChat,
    ...(inGroup && !fromMe && author !== undefined && { participant: author }),
  });
  const quoted = contentFromNetwork(info.quotedMessage, readingOf(id, people));
  const mentioned = [...(info.mentionedJid ?? []), ...(quoted?.contextInfo?.mentionedJid ?? [])];
  const value = quoted && withNames(quoted.fields, mentioned, people)[quoted.type];
  return {
    quoted_id: id,
    ...(author !== undefined && { quoted_author: author }),
    ...(quoted && { quoted_type: quoted.type }),
    ...(typeof value === 'object' && value !== null && { quoted_content: { ...value } }),
  };
}

/** The advertisement from which a conversation was started. Newer clients send fewer of these fields. */
function adFromNetwork({ externalAdReply: ad, quotedAd, ctwaSignals }: proto.IContextInfo): AdContext | undefined {
  const fromAd = ad?.sourceId || ad?.sourceUrl || ad?.ctwaClid || ad?.showAdAttribution;
  if (!fromAd && !quotedAd) return undefined;
  const source = present<NonNullable<AdContext['source']>>({
    id: ad?.sourceId,
    type: ad?.sourceType,
    url: ad?.sourceUrl,
  });
  return {
    ...present<AdContext>({
      title: ad?.title,
      body: ad?.body ?? quotedAd?.caption,
      advertiser_name: quotedAd?.advertiserName,
      media_type: mediaTypeOf(ad?.mediaType ?? quotedAd?.mediaType),
      media_url: ad?.mediaUrl,
      preview: toPreview(ad?.thumbnail ?? quotedAd?.jpegThumbnail),
      preview_url: ad?.thumbnailUrl,
      ref: ad?.ref,
      ctwa: ad?.ctwaClid ?? ctwaSignals,
      auto_reply: ad?.containsAutoReply,
      attrib: ad?.showAdAttribution,
    }),
    ...(ad && { source }),
  };
}

/** Both kinds of advertisements number their media alike. */
function mediaTypeOf(type: number | null | undefined): AdContext['media_type'] {
  const { IMAGE, VIDEO } = proto.ContextInfo.ExternalAdReplyInfo.MediaType;
  return type === IMAGE ? 'image' : type === VIDEO ? 'video' : undefined;
}

/** The entry point of the conversation; it can be present without fields of the advertisement itself. */
function conversionFromNetwork(info: proto.IContextInfo): NonNullable<MessageContext['conversion']> | undefined {
  const conversion = present<NonNullable<MessageContext['conversion']>>({
    source: info.conversionSource || info.entryPointConversionSource,
    data: toBase64(info.conversionData),
    delay: toNumber(info.conversionDelaySeconds ?? info.entryPointConversionDelaySeconds),
  });
  return conversion.source === undefined && conversion.data === undefined ? undefined : conversion;
}

import type { MessageContext } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { contentFromNetwork } from './content-from-network.js';
import { chatIdOfKey } from './jid.js';
import { toMediaId } from './media-id.js';
import { toMessageId } from './message-id.js';
import { contactOf, isOwn, type People } from './people.js';
import { present, toNumber } from './present.js';

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
  const mentions = (info.mentionedJid ?? []).flatMap((jid) => contactOf(jid, people) ?? groupMention(jid));
  const context = {
    ...present<MessageContext>({
      forwarded: info.isForwarded || undefined,
      forwarding_score: info.forwardingScore || undefined,
      mentions: mentions.length > 0 ? mentions : undefined,
      ephemeral: info.expiration || undefined,
    }),
    ...quoteFromNetwork(info, chatId, people),
    ...adFromNetwork(info),
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
  const quoted = info.quotedMessage && contentFromNetwork(info.quotedMessage, (extension) => toMediaId(extension, id));
  const value = quoted?.fields[quoted.type];
  return {
    quoted_id: id,
    ...(author !== undefined && { quoted_author: author }),
    ...(quoted && { quoted_type: quoted.type }),
    ...(typeof value === 'object' && value !== null && { quoted_content: { ...value } }),
  };
}

function adFromNetwork(info: proto.IContextInfo): MessageContext {
  const { externalAdReply: ad, ctwaSignals } = info;
  if (!ad?.sourceId && !ad?.sourceUrl) return {};
  const source = present<NonNullable<NonNullable<MessageContext['ad']>['source']>>({
    id: ad.sourceId,
    type: ad.sourceType,
    url: ad.sourceUrl,
  });
  return {
    ad: {
      ...present<NonNullable<MessageContext['ad']>>({
        title: ad.title,
        body: ad.body,
        media_url: ad.mediaUrl,
        preview_url: ad.thumbnailUrl,
        ref: ad.ref,
        ctwa: ad.ctwaClid ?? ctwaSignals,
      }),
      source,
    },
    ...(info.conversionSource && {
      conversion: { source: info.conversionSource, ...conversionDelay(toNumber(info.conversionDelaySeconds)) },
    }),
  };
}

function conversionDelay(delay: number | undefined): { delay?: number } {
  return delay === undefined ? {} : { delay };
}

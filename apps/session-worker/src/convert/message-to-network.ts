/** Messages that customers send, in the network's form. Pure. */
import type { Message, MessageContext } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { contactIdOf, contactJid } from './jid.js';
import { textForNetwork } from './names-in-text.js';
import { innerContent } from './opened-message.js';
import type { People } from './people.js';

/** What accompanies any content. */
export interface OutgoingContext {
  /** Contact ids, chat ids of persons, or group ids. */
  mentions?: readonly string[] | undefined;
  quoted?: StoredMessage | undefined;
  /** Seconds until the message disappears. */
  ephemeral?: number | undefined;
  /** When that was set for the chat, in epoch seconds; absent where the sender chose it. */
  timerSetAtS?: number | undefined;
}

/** A text, always as an "extended" one, which is the network's form for texts with a context. */
export function textToNetwork(body: string, contextInfo: proto.IContextInfo | undefined): proto.IMessage {
  const text = textForNetwork(body, contextInfo?.mentionedJid);
  return { extendedTextMessage: { text, ...(contextInfo && { contextInfo }) } };
}

/** Quote, mentions and lifetime; undefined when there is none of them. */
export function contextToNetwork(context: OutgoingContext, people: People): proto.IContextInfo | undefined {
  const { mentions = [], quoted, ephemeral, timerSetAtS } = context;
  const info: proto.IContextInfo = {
    ...(mentions.length > 0 && { mentionedJid: mentions.map(contactJid) }),
    ...(quoted && quoteToNetwork(quoted, people)),
    ...(ephemeral !== undefined && { expiration: ephemeral }),
    ...(timerSetAtS !== undefined && timerSetAtS > 0 && { ephemeralSettingTimestamp: timerSetAtS }),
  };
  return Object.keys(info).length > 0 ? info : undefined;
}

/** The same context as customers see it on the sent message; undefined when there is none. */
export function shownContext({ mentions = [], quoted, ephemeral }: OutgoingContext): MessageContext | undefined {
  const content = quoted?.message[quoted.message.type];
  const context: MessageContext = {
    ...(mentions.length > 0 && { mentions: mentions.map(contactIdOf) }),
    ...(quoted && { quoted_id: quoted.message.id, quoted_type: quoted.message.type }),
    ...(quoted?.message.from !== undefined && { quoted_author: quoted.message.from }),
    ...(typeof content === 'object' && content !== null && { quoted_content: { ...content } }),
    ...(ephemeral !== undefined && { ephemeral }),
  };
  return Object.keys(context).length > 0 ? context : undefined;
}

/** A quote has the quoted content without its own context: quotes do not nest. */
function quoteToNetwork({ key, message, proto: bytes }: StoredMessage, people: People): proto.IContextInfo {
  const author = message.from_me ? contactJid(people.own.phone) : (key.participant ?? key.remote);
  return { stanzaId: key.id, participant: author, quotedMessage: quotedContent(message, bytes) };
}

function quotedContent(message: Message, bytes: Uint8Array | undefined): proto.IMessage {
  const content = bytes && innerContent(proto.Message.decode(bytes));
  if (!content) return { conversation: message.text?.body ?? '' };
  const parts = Object.entries(inPresentWords(content, message)).filter(
    ([name]) => name !== 'messageContextInfo' && !name.startsWith('senderKey'),
  );
  return Object.fromEntries(parts.map(([name, part]) => [name, withoutContext(part)]));
}

/** The stored content with the text of the latest edit. */
export function inPresentWords(content: proto.IMessage, message: Message): proto.IMessage {
  const { extendedTextMessage, conversation } = content;
  const body = message.text?.body;
  if (body !== undefined && extendedTextMessage && extendedTextMessage.text !== body) {
    return { ...content, extendedTextMessage: { text: body, contextInfo: extendedTextMessage.contextInfo ?? null } };
  }
  if (body !== undefined && conversation) return { ...content, conversation: body };
  const shown = message[message.type];
  if (typeof shown !== 'object' || shown === null || !('caption' in shown) || typeof shown.caption !== 'string') {
    return content;
  }
  const { caption } = shown;
  const kinds = ['imageMessage', 'videoMessage', 'documentMessage'] as const;
  const kind = kinds.find((name) => content[name]);
  return kind ? { ...content, [kind]: { ...content[kind], caption } } : content;
}

function withoutContext(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || !('contextInfo' in part)) return part;
  return { ...part, contextInfo: undefined };
}

/** The edit of a text or of a caption. */
export function editToNetwork(
  edited: StoredMessage,
  body: string,
  context: OutgoingContext,
  people: People,
  nowMs: number,
): proto.IMessage {
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
      key: { remoteJid: edited.key.remote, fromMe: true, id: edited.key.id },
      editedMessage: editedContent(edited, body, context, people),
      timestampMs: nowMs,
    },
  };
}

function editedContent(edited: StoredMessage, body: string, context: OutgoingContext, people: People): proto.IMessage {
  const content = edited.proto && innerContent(proto.Message.decode(edited.proto));
  const contextInfo = contextToNetwork(context, people);
  for (const kind of ['imageMessage', 'videoMessage', 'documentMessage'] as const) {
    const media = content?.[kind];
    if (media) return { [kind]: { ...media, caption: body, ...(contextInfo && { contextInfo }) } };
  }
  return textToNetwork(body, contextInfo);
}

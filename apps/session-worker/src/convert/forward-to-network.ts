import type { Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { inPresentWords } from './message-to-network.js';
import { innerContent } from './opened-message.js';
import type { Composed } from './plain-to-network.js';

/** What cannot be said again: it is about another message or chat, or this gateway does not know what it says. */
const NOT_FORWARDED = [
  'action',
  'system',
  'unknown',
  'call',
  'poll',
  'event',
  // The network takes these from businesses alone.
  'hsm',
  'interactive',
  'buttons',
  'list',
];

/**
 * A stored message as a new one that says the same: without quote and mentions, marked as forwarded once more. A poll
 * would come without its votes, as on phones, and is not forwarded.
 * @param around what the chat it goes to asks for: how long messages stay there
 * @returns undefined for a message that cannot be forwarded
 */
export function forwardToNetwork(
  { message, proto: bytes }: StoredMessage,
  around?: proto.IContextInfo,
): Composed | undefined {
  const sent = bytes && innerContent(proto.Message.decode(bytes));
  const content = sent && inPresentWords(sent, message);
  if (!content || message.status === 'deleted' || NOT_FORWARDED.includes(message.type)) return undefined;
  const score = (message.context?.forwarding_score ?? 0) + 1;
  const contextInfo = { ...around, isForwarded: true, forwardingScore: score };
  const { conversation } = content;
  const said: proto.IMessage = conversation
    ? { extendedTextMessage: { text: conversation, contextInfo } }
    : Object.fromEntries(
        Object.entries(content)
          .filter(([name, part]) => typeof part === 'object' && part !== null && isContent(name))
          .map(([name, part]: [string, unknown]) => [name, { ...(part as object), contextInfo }]),
      );
  if (Object.keys(said).length === 0) return undefined;
  const shown: Message[string] = message[message.type];
  return {
    content: said,
    shown: { type: message.type, [message.type]: shown, context: { forwarded: true, forwarding_score: score } },
  };
}

function isContent(name: string): boolean {
  return name.endsWith('Message') && !/KeyDistribution/.test(name);
}

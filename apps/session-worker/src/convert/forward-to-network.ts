import type { Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { inPresentWords } from './message-to-network.js';
import { innerContent } from './opened-message.js';
import type { Composed } from './plain-to-network.js';

/**
 * Types that are not forwarded: they belong to another message or chat, their content is not known to this gateway, or
 * (polls, events) they would arrive without their votes or answers.
 */
const NOT_FORWARDED = [
  'action',
  'system',
  'unknown',
  'call',
  'poll',
  'event',
  // The network accepts these from businesses only.
  'hsm',
  'interactive',
  'buttons',
  'list',
];

/**
 * A new message with the content of a stored one: without quote and mentions, with the forwarding score raised by one.
 * @param around the context that the destination chat requires, such as its timer for disappearing messages
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
  const forwarded: proto.IMessage = conversation
    ? { extendedTextMessage: { text: conversation, contextInfo } }
    : Object.fromEntries(
        Object.entries(content)
          .filter(([name, part]) => typeof part === 'object' && part !== null && isContent(name))
          .map(([name, part]: [string, unknown]) => [name, { ...(part as object), contextInfo }]),
      );
  if (Object.keys(forwarded).length === 0) return undefined;
  const shown: Message[string] = message[message.type];
  return {
    content: forwarded,
    shown: { type: message.type, [message.type]: shown, context: { forwarded: true, forwarding_score: score } },
  };
}

function isContent(name: string): boolean {
  return name.endsWith('Message') && !/KeyDistribution/.test(name);
}

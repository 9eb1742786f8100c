/** What is in a message, whichever wrappers it came in. */
import type { proto } from '@whiskeysockets/baileys';
import { WRAPPERS } from './message-parts.js';

/** Deeper than any client wraps; what is wrapped deeper is not looked at. */
const MAX_WRAPPERS = 8;

export interface OpenedMessage {
  /** What the innermost wrapper holds. */
  content: proto.IMessage;
  /** Names of the wrappers, the outermost first. */
  wrappers: readonly string[];
  /** Of whichever layer has one, the outermost first. */
  contextInfo: proto.IMessageContextInfo | undefined;
}

/**
 * Opens every wrapper: any part that only holds a message, nested ones too.
 * @returns undefined for nothing, or a wrapper without content
 */
export function openMessage(message: proto.IMessage | null | undefined): OpenedMessage | undefined {
  const wrappers: string[] = [];
  let content = message ?? undefined;
  let contextInfo = content?.messageContextInfo ?? undefined;
  while (content && wrappers.length < MAX_WRAPPERS && !isPlain(content)) {
    const wrapper = wrapperIn(content);
    if (!wrapper) break;
    wrappers.push(wrapper.name);
    content = wrapper.message ?? undefined;
    contextInfo ??= content?.messageContextInfo ?? undefined;
  }
  return content && { content, wrappers, contextInfo };
}

/** The content alone. */
export function innerContent(message: proto.IMessage | null | undefined): proto.IMessage | undefined {
  return openMessage(message)?.content;
}

/** Texts, which most messages are, need no search. */
function isPlain({ conversation, extendedTextMessage }: proto.IMessage): boolean {
  return Boolean(conversation) || Boolean(extendedTextMessage);
}

function wrapperIn(message: proto.IMessage): { name: string; message: proto.IMessage | null | undefined } | undefined {
  const sent = message.deviceSentMessage;
  if (sent?.message) return { name: 'deviceSentMessage', message: sent.message };
  const wrapped = Object.entries(message).find(([name, value]) => WRAPPERS.has(name) && isHolder(value));
  return wrapped && { name: wrapped[0], message: (wrapped[1] as proto.Message.IFutureProofMessage).message };
}

function isHolder(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'message' in value;
}

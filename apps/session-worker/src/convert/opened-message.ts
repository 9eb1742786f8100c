/** The content of a message inside its wrappers. */
import type { proto } from '@whiskeysockets/baileys';
import { WRAPPERS } from './message-parts.js';

/** How many nested wrappers are opened. Clients nest fewer; deeper content is not read. */
const MAX_WRAPPERS = 8;

export interface OpenedMessage {
  /** What the innermost wrapper holds. */
  content: proto.IMessage;
  /** Names of the wrappers, the outermost first. */
  wrappers: readonly string[];
  /** The context info of the outermost layer that has one. */
  contextInfo: proto.IMessageContextInfo | undefined;
}

/**
 * Opens all wrappers, which are the parts that only hold another message.
 * @returns undefined without a message, or for a wrapper that holds none
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

/** Most messages are texts; for these the search for wrappers is skipped. */
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

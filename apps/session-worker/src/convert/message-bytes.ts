/** Messages as the bytes that the network and the store hold. */
import { proto } from '@whiskeysockets/baileys';

/** The content of a message in the network's form. */
export type MessageContent = proto.IMessage;
/** What a message quotes, whom it mentions, how long it stays. */
export type MessageContext = proto.IContextInfo;

export function encodeMessage(content: MessageContent): Uint8Array {
  return proto.Message.encode(content).finish();
}

/** @throws {Error} when the bytes are no message */
export function decodeMessage(bytes: Uint8Array): MessageContent {
  return proto.Message.decode(bytes);
}

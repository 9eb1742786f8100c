import { generateMessageIDV2, type WAMessageKey, type WASocket } from '@whiskeysockets/baileys';
import type { MessageContent } from '../../convert/message-bytes.js';

/** How the network refers to a message. */
export type MessageKey = WAMessageKey;

/** One message for the wire. */
export interface WireMessage {
  /** The network's id of it, chosen before. */
  keyId: string;
  jid: string;
  content: MessageContent;
  /** Attributes of the stanza beyond the usual (`edit`). */
  attributes?: Record<string, string>;
}

export interface MessageRequests {
  /** A new id, as the network's own web client makes them. */
  newId(): string;
  /** Encrypts the message for all devices of its recipients and sends it. Resolves when it is on the wire. */
  relay(message: WireMessage): Promise<unknown>;
  /** Sends the authors receipts that their messages were read. */
  markRead(keys: readonly MessageKey[]): Promise<void>;
}

export function messageRequests(socket: WASocket): MessageRequests {
  return {
    newId: () => generateMessageIDV2(socket.authState.creds.me?.id),
    relay: ({ keyId, jid, content, attributes }) =>
      socket.relayMessage(jid, content, {
        messageId: keyId,
        ...(attributes && { additionalAttributes: attributes }),
      }),
    markRead: (keys) => socket.readMessages([...keys]),
  };
}

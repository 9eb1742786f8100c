import type { WAMessage } from '@whiskeysockets/baileys';
import type { Client } from './client.js';

/** What identifies a message in a request for its content to the own phone. */
export type RequestedMessage = Pick<WAMessage, 'key'> &
  Partial<Pick<WAMessage, 'messageTimestamp' | 'pushName' | 'participant'>>;

/** The library requests the same message again only after 8 s. */
const ANSWERED_WITHIN_MS = 9000;

/** Whether a client has shown the content of a message. */
export function hasShown(client: Client, id: string): boolean {
  return client.messages.some(({ message: { key, message } }) => key.id === id && Boolean(message));
}

/** Requests a message's content from the own phone; resolves when it is there, or when the client may request it once more. */
export async function requestFromOwnPhone(client: Client, message: RequestedMessage): Promise<void> {
  const { key, messageTimestamp, pushName, participant } = message;
  const known = { key, messageTimestamp, pushName, participant };
  await client.socket.requestPlaceholderResend(key, known).catch(() => undefined);
  await client.until(() => hasShown(client, key.id ?? ''), 'the content', ANSWERED_WITHIN_MS).catch(() => undefined);
}

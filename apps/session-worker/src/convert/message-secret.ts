import type { proto } from '@whiskeysockets/baileys';

/** Kinds that are sealed under another message's secret, or answer one, and have none of their own. */
const WITHOUT = ['reactionMessage', 'encReactionMessage', 'encEventResponseMessage', 'pollUpdateMessage'] as const;

export const MESSAGE_SECRET_BYTES = 32;

/**
 * The message with a secret, as the library's own sends have it (Baileys 7.0.0-rc14, `generateWAMessageContent`): without
 * one, others cannot react to it in announcement groups, comment on it or answer it sealed. It is stored with the message,
 * so that a repetition has the same.
 * @param secret makes 32 random bytes
 */
export function withMessageSecret(content: proto.IMessage, secret: () => Uint8Array): proto.IMessage {
  if (WITHOUT.some((kind) => content[kind]) || content.messageContextInfo?.messageSecret) return content;
  return { ...content, messageContextInfo: { ...content.messageContextInfo, messageSecret: secret() } };
}

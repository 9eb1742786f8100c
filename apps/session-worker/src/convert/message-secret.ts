import type { proto } from '@whiskeysockets/baileys';

/** Kinds that are sealed under the secret of another message, or refer to one, and have no secret of their own. */
const WITHOUT = ['reactionMessage', 'encReactionMessage', 'encEventResponseMessage', 'pollUpdateMessage'] as const;

export const MESSAGE_SECRET_BYTES = 32;

/**
 * The message with a secret, as the library's own send function adds it (Baileys 7.0.0-rc14, `generateWAMessageContent`).
 * Without a secret, others cannot comment on the message, react to it in announcement groups, or seal answers to it.
 * The secret is stored with the message, so that a repeated send has the same one.
 * @param secret makes 32 random bytes
 */
export function withMessageSecret(content: proto.IMessage, secret: () => Uint8Array): proto.IMessage {
  if (WITHOUT.some((kind) => content[kind]) || content.messageContextInfo?.messageSecret) return content;
  return { ...content, messageContextInfo: { ...content.messageContextInfo, messageSecret: secret() } };
}

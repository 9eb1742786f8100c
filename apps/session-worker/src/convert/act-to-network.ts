/** Actions on an existing message, in the network's form. Keys are from the sender's point of view. Pure. */
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto, type WAMessageKey } from '@whiskeysockets/baileys';

/** How the network refers to a stored message. */
export function keyToNetwork({ key, message }: StoredMessage): WAMessageKey {
  return {
    remoteJid: key.remote,
    fromMe: message.from_me,
    id: key.id,
    ...(key.participant !== undefined && !message.from_me && { participant: key.participant }),
  };
}

/** @param emoji '' removes the reaction */
export function reactionToNetwork(target: StoredMessage, emoji: string, nowMs: number): proto.IMessage {
  return { reactionMessage: { key: keyToNetwork(target), text: emoji, senderTimestampMs: nowMs } };
}

/** Deletes a message for everyone: an own one, or, as admin of a group, one of another member. */
export function deletionToNetwork(target: StoredMessage): proto.IMessage {
  return { protocolMessage: { type: proto.Message.ProtocolMessage.Type.REVOKE, key: keyToNetwork(target) } };
}

/** The stanza's `edit` attribute of a deletion: 7 by the author, 8 by an admin. */
export function deletionEdit({ message }: StoredMessage): string {
  return message.from_me ? '7' : '8';
}

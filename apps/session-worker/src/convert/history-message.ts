/** Messages of the phone's history: who reacted and voted before the link is part of them. */
import type { Message } from '@dormouse/gateway-contract';
import type { MessageRecord } from '@dormouse/message-store/write';
import type { proto, WAMessage, WAMessageKey } from '@whiskeysockets/baileys';
import { withReaction } from './change-from-network.js';
import { messageFromNetwork, readReceived } from './message-from-network.js';
import type { People } from './people.js';
import { withVote } from './poll-votes.js';
import { toNumber } from './present.js';

/** @returns undefined for messages that customers are not shown, see {@link messageFromNetwork} */
export function messageFromHistory(received: WAMessage, people: People): MessageRecord | undefined {
  const record = messageFromNetwork(received, people);
  if (!record) return undefined;
  let { message } = record;
  for (const { key, text, senderTimestampMs: atMs } of received.reactions ?? []) {
    const reaction = readAddition(received, key, atMs, people);
    if (reaction && text) message = withReaction(message, reaction, text);
  }
  for (const { pollUpdateMessageKey: key, vote, senderTimestampMs: atMs } of received.pollUpdates ?? []) {
    const voter = readAddition(received, key, atMs, people)?.from;
    const votes = (vote?.selectedOptions ?? []).map((hash) => Buffer.from(hash).toString('base64'));
    if (voter !== undefined) message = withVote(message, votes, voter) ?? message;
  }
  return { ...record, message };
}

/** Who reacted or voted, and when: what the message itself would have in common with others. */
function readAddition(
  { key: { remoteJid, remoteJidAlt } }: WAMessage,
  key: proto.IMessageKey | null | undefined,
  atMs: number | { toNumber(): number } | null | undefined,
  people: People,
): Message | undefined {
  const named: WAMessageKey = { remoteJid, remoteJidAlt, ...key };
  const messageTimestamp = Math.floor((toNumber(atMs) ?? 0) / 1_000);
  return readReceived({ key: named, messageTimestamp }, people)?.base;
}

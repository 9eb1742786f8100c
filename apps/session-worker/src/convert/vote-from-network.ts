/**
 * Votes on polls. A vote is sealed under the poll's secret with the addresses of creator and voter in the naming that the
 * voter's client used, number or LID; all of them are tried. It holds hashes of the chosen options' texts.
 */
import type { Message, PollResult } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { decryptPollVote, normalizeMessageContent, proto, type WAMessage } from '@whiskeysockets/baileys';
import { actionRecord, targetOf, type HeardAction } from './change-from-network.js';
import { addressForms, bareJid, contactJid } from './jid.js';
import { readHeard } from './message-from-network.js';
import type { People } from './people.js';

/** The public id of the poll a heard message votes on; undefined when it is no vote. */
export function pollVotedOn(heard: WAMessage, people: People): string | undefined {
  const vote = voteIn(heard);
  const read = vote && readHeard(heard, people);
  return read && targetOf(read, vote?.pollCreationMessageKey ?? {}, people).id;
}

/**
 * Reads a vote.
 * @param poll the poll from the store; without it the vote is told, but not what it says
 */
export function voteFromNetwork(
  heard: WAMessage,
  people: People,
  poll: StoredMessage | undefined,
): HeardAction | undefined {
  const vote = voteIn(heard);
  const read = vote && readHeard(heard, people);
  if (!read || !vote?.pollCreationMessageKey) return undefined;
  const target = targetOf(read, vote.pollCreationMessageKey, people);
  const votes = poll && openedVotes(vote, heard, poll, people);
  const trigger = actionRecord(read, { type: 'vote', target: target.id, ...(votes && { votes }) });
  const voter = read.base.from;
  if (!votes || voter === undefined) return { trigger };
  return {
    trigger,
    change: {
      trigger,
      target: { keyId: target.keyId, chatId: read.chatId },
      apply: (before) => withVote(before, votes, voter),
    },
  };
}

function voteIn({ message }: WAMessage): proto.Message.IPollUpdateMessage | undefined {
  const update = message && normalizeMessageContent(message)?.pollUpdateMessage;
  return update?.pollCreationMessageKey?.id && update.vote ? update : undefined;
}

/** Ids of the chosen options; undefined when the vote cannot be opened. */
function openedVotes(
  { vote, pollCreationMessageKey: key }: proto.Message.IPollUpdateMessage,
  heard: WAMessage,
  poll: StoredMessage,
  people: People,
): string[] | undefined {
  const secret = poll.proto && proto.Message.decode(poll.proto).messageContextInfo?.messageSecret;
  if (!secret || !vote || !key?.id) return undefined;
  const own = [contactJid(people.own.phone), ...(people.own.lid === undefined ? [] : [`${people.own.lid}@lid`])];
  const voters = heard.key.fromMe ? own : withNumbers(addressForms(heard.key), people);
  const creators = poll.message.from_me ? own : withNumbers(addressesOfAuthor(poll), people);
  for (const pollCreatorJid of creators) {
    for (const voterJid of voters) {
      try {
        const opened = decryptPollVote(vote, { pollCreatorJid, voterJid, pollMsgId: key.id, pollEncKey: secret });
        return opened.selectedOptions.map((hash) => Buffer.from(hash).toString('base64'));
      } catch {
        // sealed under another naming
      }
    }
  }
  return undefined;
}

function addressesOfAuthor({ key, message }: StoredMessage): string[] {
  const addresses = [key.participant ?? key.remote, ...(message.from === undefined ? [] : [contactJid(message.from)])];
  return addresses.map(bareJid);
}

/** Each address, and the other ones of the same person as far as they are known. */
function withNumbers(jids: readonly string[], { numbers }: People): string[] {
  const pairs = [...numbers].map(([lid, number]) => [`${lid}@lid`, contactJid(number)] as const);
  const others = jids.flatMap((jid) =>
    pairs.flatMap(([lid, number]) => (jid === lid ? [number] : jid === number ? [lid] : [])),
  );
  return [...new Set([...jids, ...others])];
}

/** A voter has one vote: a later one takes the place of the earlier one, an empty one takes it back. */
export function withVote(before: Message, votes: readonly string[], voter: string): Message | undefined {
  const { poll } = before;
  if (!poll || before.status === 'deleted') return undefined;
  const results = (poll.results ?? []).map(({ id, name, voters }): PollResult => {
    const others = voters.filter((other) => other !== voter);
    const now = votes.includes(id) ? [...others, voter] : others;
    return { id, name, count: now.length, voters: now };
  });
  const total = results.reduce((sum, { count }) => sum + count, 0);
  return { ...before, poll: { ...poll, total, results } };
}

/** Polls in every form that clients make. */
import { createHash } from 'node:crypto';
import type { PollContent } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { toNumber } from './present.js';

/** Votes name an option by the hash of its text; that is its id here too. */
export function pollOptionId(name: string): string {
  return createHash('sha256').update(name).digest('base64');
}

/** A poll without votes. */
export function pollContent(poll: proto.Message.IPollCreationMessage): PollContent {
  const options = (poll.options ?? []).map(({ optionName }) => optionName ?? '');
  return {
    title: poll.name ?? '',
    options,
    vote_limit: poll.selectableOptionsCount ?? 0,
    total: 0,
    results: options.map((name) => ({ id: pollOptionId(name), name, count: 0, voters: [] })),
  };
}

/** How a poll of elsewhere stands, without who voted. */
export function pollResults({ name, pollVotes }: proto.Message.IPollResultSnapshotMessage): PollContent {
  const results = (pollVotes ?? []).map(({ optionName, optionVoteCount }) => ({
    id: pollOptionId(optionName ?? ''),
    name: optionName ?? '',
    count: toNumber(optionVoteCount) ?? 0,
    voters: [],
  }));
  return {
    title: name ?? '',
    options: results.map((result) => result.name),
    total: results.reduce((sum, { count }) => sum + count, 0),
    results,
  };
}

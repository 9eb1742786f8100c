import type { Message, PollResult } from '@dormouse/gateway-contract';

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

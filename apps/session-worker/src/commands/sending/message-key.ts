import { createHash } from 'node:crypto';
import type { CommandContext } from '../command-context.js';

/** What the ids begin with that the network's own web client makes. */
const WEB_CLIENT = '3EB0';
const HEX_DIGITS = 18;

/** The network's id for something new to be said: what its caller repeats has the same id each time. */
export function keyIdFor(context: Pick<CommandContext, 'sendAs' | 'session'>): string {
  return context.sendAs === undefined ? context.session().network.messages.newId() : repeatedKeyId(context.sendAs, 1);
}

/**
 * The network's id of a send that may be repeated.
 * @param attempt 1, and one more for each id before it whose message failed
 */
export function repeatedKeyId(sendAs: string, attempt: number): string {
  const digest = createHash('sha256').update(`${sendAs}\n${attempt}`).digest('hex');
  return WEB_CLIENT + digest.slice(0, HEX_DIGITS).toUpperCase();
}

/** For integration specs: parts of sessions that a spec does not use. */
import type { ChannelDirectory } from '@dormouse/channel-directory';
import type { SessionParts, SessionStates } from './session-context.js';

/** For specs in which no session sleeps. */
export const NOBODY_SLEEPS: SessionParts['hibernation'] = {
  seal: () => Promise.reject(new Error('nobody sleeps here')),
  restore: () => Promise.resolve(undefined),
  postpone: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

/** Stores the states of sessions without events. */
export function statesWithoutEvents(directory: ChannelDirectory): SessionStates {
  return {
    record: (fence, channelId, change) => directory.recordSessionState(fence, channelId, change),
    offered: () => undefined,
  };
}

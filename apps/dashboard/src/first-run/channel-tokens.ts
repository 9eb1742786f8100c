/**
 * Tokens of channels as long as the page is open, and no longer: they are in memory alone, never in storage, in an address or
 * in a log.
 */
import { useSyncExternalStore } from 'react';

const tokens = new Map<string, string>();
const listeners = new Set<() => void>();

export function keepToken(channelId: string, token: string): void {
  tokens.set(channelId, token);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The token of a channel, if it was shown or entered since the page was opened. */
export function useToken(channelId: string): string | undefined {
  return useSyncExternalStore(subscribe, () => tokens.get(channelId));
}

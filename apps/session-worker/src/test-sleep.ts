import type { SessionContext } from './sessions/session-context.js';

/** For specs in which nobody sleeps. */
export const NOBODY_SLEEPS: SessionContext['hibernation'] = {
  seal: () => Promise.reject(new Error('nobody sleeps here')),
  restore: () => Promise.resolve(false),
  postpone: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

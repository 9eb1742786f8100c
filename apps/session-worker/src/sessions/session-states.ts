import type { SessionState } from '@dormouse/gateway-contract';

/**
 * Every move a session can make, with what makes it. Staying in a state is no move. A new owner starts from the state
 * that the last one stored (see `resumed`).
 */
export const SESSION_MOVES = {
  closed: {
    connecting: 'login requested, a command needs the socket, or the rest after failed attempts is over',
  },
  connecting: {
    qr: 'the network offers a code',
    open: 'credentials accepted',
    closed: 'refused, unlinked, logged out, or too many failed attempts',
  },
  qr: {
    connecting: 'scanned',
    closed: 'codes ran out or the stream dropped',
  },
  open: {
    connecting: 'stream dropped, or handed off to another worker',
    hibernating: 'idle',
    closed: 'logout, or unlinked on the phone',
  },
  hibernating: {
    hibernated: 'snapshot stored, socket closed',
    open: 'a command came first',
    connecting: 'stream dropped, snapshot not stored, or handed off to another worker',
  },
  hibernated: {
    waking: 'a command or a scheduled drain needs the socket',
    closed: 'logout or channel deleted',
  },
  waking: {
    open: 'connected',
    hibernated: 'failed, or handed off to another worker; the next command tries again',
    closed: 'refused',
  },
} as const satisfies Record<SessionState, Partial<Record<SessionState, string>>>;

/** The state of a channel that never had a session. */
export const FIRST_STATE: SessionState = 'closed';

export function canMove(from: SessionState, to: SessionState): boolean {
  return from === to || Object.hasOwn(SESSION_MOVES[from], to);
}

/** A move that is not in the table is a bug. @throws {Error} naming both states */
export function assertMove(from: SessionState, to: SessionState): void {
  if (!canMove(from, to)) throw new Error(`a session cannot move from ${from} to ${to}`);
}

/** The states that can be reached from `start`, itself included. */
export function reachableFrom(start: SessionState): Set<SessionState> {
  const reached = new Set<SessionState>([start]);
  for (const state of reached) {
    for (const next of Object.keys(SESSION_MOVES[state]) as SessionState[]) reached.add(next);
  }
  return reached;
}

/**
 * The state in which a new owner continues a session that another worker left in `stored`: sockets and pairings ended
 * with it, sleeping sessions stay asleep.
 */
export function resumed(stored: SessionState, linked: boolean): SessionState {
  if (stored === 'hibernated' || stored === 'closed') return stored;
  if (!linked) return 'closed';
  return stored === 'waking' ? 'hibernated' : 'connecting';
}

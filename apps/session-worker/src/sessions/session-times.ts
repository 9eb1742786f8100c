/** Timeouts and pauses of sessions, in milliseconds. */

/** Pause before a reconnect after another holder of the device took the connection. */
export const YIELD_MS = 60_000;
/** Timeout of reaching the network in a logout. */
export const LOGOUT_WITHIN_MS = 8_000;
/** How long a connect that is not open holds its slot. */
export const SLOT_WITHIN_MS = 30_000;
/** Failed attempts after which a wake is given up. */
export const WAKE_TRIES = 4;
/** Shortest pause before the next scheduled wake of a session whose wake failed; the longest is twice that. */
export const WAKE_AGAIN_MS = 120_000;
/** Shortest time for which a session that could not be put to sleep stays awake; the longest is twice that. */
export const AWAKE_FOR_MS = 300_000;

/** How long a session waits for what. */

/** Another holder of the device has this long before we come back. */
export const YIELD_MS = 60_000;
/** How long a logout tries to reach the network. */
export const LOGOUT_WITHIN_MS = 8_000;
/** A connect that has come to nothing by then does not hold others up. */
export const SLOT_WITHIN_MS = 30_000;
/** Failed attempts after which a wake is given up. */
export const WAKE_TRIES = 4;
/** A session whose wake failed is woken again by itself so much later, up to twice. */
export const WAKE_AGAIN_MS = 120_000;
/** How long a session that could not be put to sleep stays awake, up to twice. */
export const AWAKE_FOR_MS = 300_000;

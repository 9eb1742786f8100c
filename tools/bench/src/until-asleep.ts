import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { LinkedChannel } from './world.js';

const POLL_MS = 50;

/**
 * Waits until all of them sleep at the same moment: the first may have been woken in its turn before the last fell asleep.
 *
 * Their states are read where they are stored: for customers, a number that wakes is still asleep.
 */
export async function untilAsleep(database: pg.Client, numbers: readonly LinkedChannel[]): Promise<void> {
  const ids = numbers.map(({ id }) => id);
  for (;;) {
    const { rows } = await database.query<{ awake: string }>(
      `SELECT count(*) AS awake FROM channels WHERE id = ANY($1) AND session_state <> 'hibernated'`,
      [ids],
    );
    if (rows[0]?.awake === '0') return;
    await delay(POLL_MS);
  }
}

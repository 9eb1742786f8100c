/**
 * When each key was used last, to the minute. Written beside the requests: none waits for it or fails with it, and without the
 * database only the time of the last use is missing.
 */
import { defineStatement, type GlobalDatabase } from '@dormouse/database';
import type { UsedKey } from './account-key.js';

const USED = defineStatement({
  name: 'account-key-used',
  scope: 'global',
  text: `UPDATE account_keys SET last_used_at = now()
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
  parameters: ['text'],
});

const EVERY_MS = 60_000;

export class KeyUse {
  /** Keys whose use is being written. */
  readonly #writing = new Map<string, Promise<unknown>>();

  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly now: () => number = Date.now,
  ) {}

  /** Call for each request with a key, as it was just read. */
  used({ id, lastUsedAt }: Pick<UsedKey, 'id' | 'lastUsedAt'>): void {
    if (this.#writing.has(id) || (lastUsedAt && this.now() - lastUsedAt.getTime() < EVERY_MS)) return;
    const writing = USED.count(this.database.pool, id)
      .catch(() => undefined)
      .finally(() => this.#writing.delete(id));
    this.#writing.set(id, writing);
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await Promise.all(this.#writing.values());
  }
}

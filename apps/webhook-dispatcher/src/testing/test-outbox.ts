import { randomBytes, randomUUID } from 'node:crypto';
import { ChannelDirectory, type Standing } from '@dormouse/channel-directory';
import { openRegionalDatabase, transaction, type RegionalDatabase } from '@dormouse/database';
import type { SettingsPatch } from '@dormouse/gateway-contract';
import { createTestDatabase } from '@dormouse/stack/test-stores';
import { eventually } from './eventually.js';

/** A cursor's row, as specs look at it. */
export interface CursorState {
  /** What is accepted, or given up, with nothing missing before it. */
  position: number;
  /** Failed attempts since the receiver accepted something. */
  attempts: number;
  /** Sequence numbers of events that are held, and of those set aside. */
  held: number[];
  setAside: number[];
  leased: boolean;
  waitMs: number;
  lastStatus: number | null;
  lastError: string | null;
}

/** A regional database of one spec, with channels and events put in the way their owners do it. */
export class TestOutbox {
  readonly #directory: ChannelDirectory;
  #standings = 0n;

  private constructor(
    readonly database: RegionalDatabase,
    readonly url: string,
    private readonly drop: () => Promise<void>,
  ) {
    this.#directory = new ChannelDirectory({ database });
  }

  static async open(): Promise<TestOutbox> {
    const store = await createTestDatabase('regional');
    const database = openRegionalDatabase({ url: store.url, applicationName: 'dispatcher-spec' });
    return new TestOutbox(database, store.url, () => store.drop());
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.drop();
  }

  /** A channel with these webhooks. */
  async channel(webhooks: NonNullable<SettingsPatch['webhooks']>, settings: SettingsPatch = {}): Promise<string> {
    const id = `SPEC-${randomBytes(5).toString('hex')}`;
    await this.#directory.create({ id, accountId: 'a', name: id, tokenHash: randomBytes(32), shard: 0 });
    await this.#directory.updateSettings(id, { ...settings, webhooks });
    return id;
  }

  async updateSettings(channelId: string, patch: SettingsPatch): Promise<void> {
    await this.#directory.updateSettings(channelId, patch);
  }

  async setStanding(channelId: string, standing: Standing): Promise<void> {
    this.#standings += 1n;
    await this.#directory.setStanding(channelId, standing, this.#standings);
  }

  async markDeleted(channelId: string): Promise<void> {
    await this.#directory.markDeleted(channelId);
  }

  /**
   * Writes `count` events in one transaction; they carry `number`: 1, 2, 3, … over the channel's whole life.
   * @param chats the chats they belong to, in turn; none: to no chat
   */
  async write(channelId: string, count = 1, kind = 'messages.post', ageS = 0, chats: string[] = []): Promise<void> {
    const [type = '', method = ''] = kind.split('.');
    await transaction(this.database, async (connection) => {
      const { rows } = await connection.query<{ last_seq: string }>(
        `INSERT INTO event_sequences AS s (channel_id, last_seq) VALUES ($1, $2)
         ON CONFLICT (channel_id) DO UPDATE SET last_seq = s.last_seq + $2 RETURNING last_seq`,
        [channelId, count],
      );
      const first = Number(rows[0]?.last_seq) - count + 1;
      const numbers = Array.from({ length: count }, (_, index) => first + index);
      await connection.query(
        `INSERT INTO events (channel_id, seq, id, type, method, payload, created_at)
         SELECT $1, n, id, $3::text, $4,
                jsonb_build_object($3::text, jsonb_build_array(
                  jsonb_strip_nulls(jsonb_build_object('number', n, 'chat_id', chat)))),
                now() - $6::float8 * interval '1 s'
         FROM unnest($2::bigint[], $5::uuid[], $7::text[]) AS t(n, id, chat)`,
        [
          channelId,
          numbers,
          type,
          method,
          numbers.map(() => randomUUID()),
          ageS,
          numbers.map((_, index) => chats[index % chats.length] ?? null),
        ],
      );
    });
  }

  async eventIds(channelId: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(
      'SELECT id FROM events WHERE channel_id = $1 ORDER BY seq',
      [channelId],
    );
    return rows.map((row) => row.id);
  }

  /** The channel's cursors by their place in the table; specs with one webhook take the first. */
  async cursors(channelId: string): Promise<CursorState[]> {
    const { rows } = await this.database.pool.query<{
      position: string;
      attempts: number;
      leased: boolean;
      wait_ms: number;
      last_status: number | null;
      last_error: string | null;
      held: number[];
      set_aside: number[];
    }>(
      `SELECT least(c.position, h.held[1] - 1) AS position, attempts, last_status, last_error, held, set_aside,
              coalesce(leased_until > clock_timestamp(), false) AS leased,
              coalesce(extract(epoch FROM next_attempt_at - clock_timestamp()), 0)::float8 * 1000 AS wait_ms
       FROM webhook_cursors c, LATERAL (
         SELECT coalesce(array_agg(seq::int ORDER BY seq) FILTER (WHERE set_aside_at IS NULL), '{}') AS held,
           coalesce(array_agg(seq::int ORDER BY seq) FILTER (WHERE set_aside_at IS NOT NULL), '{}') AS set_aside
         FROM webhook_held_events h WHERE h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id) h
       WHERE channel_id = $1 ORDER BY webhook_id`,
      [channelId],
    );
    return rows.map((row) => ({
      position: Number(row.position),
      attempts: row.attempts,
      held: row.held,
      setAside: row.set_aside,
      leased: row.leased,
      waitMs: row.wait_ms,
      lastStatus: row.last_status,
      lastError: row.last_error,
    }));
  }

  /** Resolves once no dispatcher holds the channel's first cursor and it is as it should be. */
  cursorAtRest(channelId: string, isRight: (state: CursorState) => boolean): Promise<CursorState[]> {
    return eventually(
      () => this.cursors(channelId),
      ([first]) => first !== undefined && !first.leased && isRight(first),
    );
  }

  /** Sequence numbers and attempts of the channel's dead letters. */
  async deadLetters(channelId: string): Promise<{ seq: number; attempts: number; redriving: boolean }[]> {
    const { rows } = await this.database.pool.query<{ seq: string; attempts: number; redriving: boolean }>(
      `SELECT seq, attempts, redrive_at IS NOT NULL AS redriving FROM dead_letters WHERE channel_id = $1 ORDER BY seq`,
      [channelId],
    );
    return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
  }

  /** Requests a redrive of dead letters, as the management API does. */
  async redrive(channelId: string, seqs: number[]): Promise<void> {
    await transaction(this.database, async (connection) => {
      await connection.query(
        'UPDATE webhook_cursors SET redriving = true, next_attempt_at = now() WHERE channel_id = $1',
        [channelId],
      );
      await connection.query(
        'UPDATE dead_letters SET redrive_at = now() WHERE channel_id = $1 AND seq = ANY ($2::bigint[])',
        [channelId, seqs],
      );
    });
  }

  /** The delivery log, oldest first: `seq.attempt outcome status-or-error`. */
  async log(channelId: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ line: string }>(
      `SELECT concat_ws(' ', seq || '.' || attempt, outcome, status, error, answer) AS line
       FROM webhook_attempts WHERE channel_id = $1 ORDER BY id`,
      [channelId],
    );
    return rows.map(({ line }) => line);
  }

  /** Makes the channel's webhooks and events older. */
  async age(channelId: string, ms: number): Promise<void> {
    for (const change of ['events SET created_at = created_at', 'webhook_cursors SET since = since']) {
      const text = `UPDATE ${change} - $2::float8 * interval '1 ms' WHERE channel_id = $1`;
      await this.database.pool.query(text, [channelId, ms]);
    }
  }

  /** Lets the time of waiting webhooks pass. `leases`: that of webhooks which a dispatcher holds, too. */
  async passTime(ms: number, { leases = true } = {}): Promise<void> {
    await transaction(this.database, async (connection) => {
      // Writers of held events lock the cursor's row first.
      await connection.query('SELECT 1 FROM webhook_cursors FOR UPDATE');
      await connection.query(
        `WITH held AS (
           UPDATE webhook_held_events SET next_attempt_at = next_attempt_at - $1::float8 * interval '1 ms',
                  first_failed_at = first_failed_at - $1::float8 * interval '1 ms'
         )
         UPDATE webhook_cursors SET next_attempt_at = next_attempt_at - $1::float8 * interval '1 ms',
                accepted_at = accepted_at - $1::float8 * interval '1 ms',
                leased_until = leased_until - CASE WHEN $2 THEN $1::float8 ELSE 0 END * interval '1 ms'`,
        [ms, leases],
      );
    });
  }
}

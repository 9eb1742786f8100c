/**
 * No event is lost, and all of a channel are in order.
 *
 * Everything written for a channel is written in one transaction that first holds the fence and then locks the
 * channel's row of `event_sequences`. Writers of one channel therefore pass one after the other, each sees all that the
 * one before committed, sequence numbers have no gaps, and a reader that sees number n has seen every number below it.
 * An event is a row of the same transaction as the thing it tells of: both exist or neither does. Redis plays no part;
 * with PostgreSQL away nothing is written and the caller must try again.
 */
import {
  fencedTransaction,
  storableJson,
  type Connection,
  type Fence,
  type RegionalDatabase,
} from '@dormouse/database';
import type { ChannelEvent } from '@dormouse/gateway-contract';

/** A transaction on one channel. */
export interface ChannelTransaction {
  readonly connection: Connection;
  readonly channelId: string;
  /**
   * Writes events after all that are there, in the order given, whatever is in them; returns their sequence numbers.
   */
  append(events: readonly ChannelEvent[]): Promise<number[]>;
}

/**
 * Runs `work` as the only writer of the channel.
 * @throws {FencedError} before anything is written, when the shard has a newer owner
 */
export async function channelTransaction<T>(
  database: Pick<RegionalDatabase, 'pool'>,
  fence: Fence,
  channelId: string,
  work: (transaction: ChannelTransaction) => Promise<T>,
): Promise<T> {
  return fencedTransaction(database, fence, async (connection) => {
    let lastSeq = await lockSequence(connection, channelId);
    return work({
      connection,
      channelId,
      append: async (events) => {
        if (events.length === 0) return [];
        const numbered = events.map((event, index) => ({ seq: lastSeq + index + 1, ...event }));
        lastSeq += events.length;
        await connection.query({
          name: 'append-events',
          text: APPEND_EVENTS,
          values: [channelId, lastSeq, storableJson(numbered)],
        });
        return numbered.map(({ seq }) => seq);
      },
    });
  });
}

async function lockSequence(connection: Connection, channelId: string): Promise<number> {
  const lock = () =>
    connection.query<{ last_seq: string }>({
      name: 'lock-event-sequence',
      text: 'SELECT last_seq FROM event_sequences WHERE channel_id = $1 FOR UPDATE',
      values: [channelId],
    });
  let row = (await lock()).rows[0];
  if (!row) {
    await connection.query({
      text: 'INSERT INTO event_sequences (channel_id) VALUES ($1) ON CONFLICT (channel_id) DO NOTHING',
      values: [channelId],
    });
    row = (await lock()).rows[0];
  }
  if (!row) throw new Error(`event sequence of channel ${channelId} is missing`);
  return Number(row.last_seq);
}

const APPEND_EVENTS = `
WITH moved AS (UPDATE event_sequences SET last_seq = $2 WHERE channel_id = $1)
INSERT INTO events (channel_id, seq, id, type, method, payload, conversation)
SELECT $1, e.seq, gen_random_uuid(), e.type, e.method, e.payload, e.conversation
FROM jsonb_to_recordset($3::jsonb) AS e(seq bigint, type text, method text, payload jsonb, conversation text)`;

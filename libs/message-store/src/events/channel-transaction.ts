/**
 * Everything written for a channel is written in one transaction that first holds the fence and then locks the end of the
 * channel's events: writers of one channel pass one after the other, and an event is a row of the same transaction as the
 * thing it is about. What follows from that, and what happens with PostgreSQL away, is in the outbox's `append-events.ts`.
 * Statements that are such a transaction by themselves do the same in the same order.
 */
import { fencedTransaction, type Connection, type Fence, type RegionalDatabase } from '@dormouse/database';
import { lockEventLog, type EventLog } from '@dormouse/event-outbox';

/** A transaction on one channel. */
export interface ChannelTransaction extends EventLog {
  readonly connection: Connection;
  readonly fence: Fence;
  readonly channelId: string;
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
    const { append } = await lockEventLog(connection, channelId);
    return work({ connection, fence, channelId, append });
  });
}

/** Rows of a statement on many channels, by channel and in their order. */
export function rowsByChannel<Row extends { readonly channel_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const channels = new Map<string, Row[]>();
  for (const row of rows) {
    const own = channels.get(row.channel_id);
    if (own) own.push(row);
    else channels.set(row.channel_id, [row]);
  }
  return channels;
}

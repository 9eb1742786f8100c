import type { Connection, Fence, RegionalDatabase } from '@dormouse/database';
import type { ChannelEvent } from '@dormouse/gateway-contract';
import { channelTransaction } from './channel-transaction.js';
import { writingEvents } from './event-span.js';
import type { Written } from '../messages/message-writer.js';

/** Writes events of what is not in the store: calls, presences, the channel itself. Fenced, as all writes. */
export class EventWriter {
  private readonly database: Pick<RegionalDatabase, 'pool'>;

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.database = database;
  }

  async append(fence: Fence, channelId: string, events: readonly ChannelEvent[]): Promise<Written> {
    return this.during(fence, channelId, () => Promise.resolve(events));
  }

  /** Writes the events of a change in the transaction that makes it. */
  async during(
    fence: Fence,
    channelId: string,
    work: (connection: Connection) => Promise<readonly ChannelEvent[]>,
  ): Promise<Written> {
    return writingEvents(() =>
      channelTransaction(this.database, fence, channelId, async (transaction) => {
        return { seqs: await transaction.append(await work(transaction.connection)) };
      }),
    );
  }
}

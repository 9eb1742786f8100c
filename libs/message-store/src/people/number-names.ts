import { defineStatement, type Fence, type RegionalDatabase } from '@dormouse/database';
import { channelTransaction } from '../events/channel-transaction.js';

const FIND = defineStatement({
  name: 'number-name',
  text: 'SELECT network FROM number_names WHERE channel_id = $1 AND typed = $2',
  parameters: ['text', 'text'],
  row: { network: 'text' },
});

const RECORD = defineStatement({
  name: 'record-number-name',
  text: `INSERT INTO number_names (channel_id, typed, network) VALUES ($1, $2, $3)
         ON CONFLICT (channel_id, typed) DO UPDATE SET network = excluded.network`,
  parameters: ['text', 'text', 'text'],
});

/** How the network names numbers that customers write in several ways: its own answers, one row for each number queried. */
export class NumberNames {
  private readonly database: Pick<RegionalDatabase, 'pool'>;

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.database = database;
  }

  /** @returns digits as the network writes them; undefined for a number that was never queried, or not found */
  async find(channelId: string, typed: string): Promise<string | undefined> {
    return (await FIND.first(this.database.pool, channelId, typed))?.network;
  }

  /** @throws {FencedError} when the shard has a newer owner */
  async record(fence: Fence, channelId: string, typed: string, network: string): Promise<void> {
    await channelTransaction(this.database, fence, channelId, async ({ connection }) => {
      await RECORD.count(connection, channelId, typed, network);
    });
  }
}

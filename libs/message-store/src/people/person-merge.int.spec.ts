import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type Fence, type RegionalDatabase } from '@dormouse/database';
import { ChatWriter } from '../chats/chat-writer.js';
import { GROUP, incoming } from '../example-records.js';
import { MessageReader } from '../messages/message-reader.js';
import { MessageWriter } from '../messages/message-writer.js';

const LID = '900000000001@lid';
const PAIR = { lid: '900000000001', phone: '15550001111' };

describe('a LID whose number becomes known', () => {
  let database: RegionalDatabase;
  const channel = `CH-${randomBytes(6).toString('hex')}`;
  const fence: Fence = { shard: randomInt(1_000_000, 2_000_000_000), epoch: 5n };

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'person-merge-spec',
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 5)', [fence.shard]);
  });
  afterAll(() => database.close());

  it('is the number in texts that name it, in answers to events and in orders', async () => {
    const record = incoming('G1', {
      chat_id: GROUP,
      from: '15550002222',
      text: { body: `ask @${LID}, not ${LID}` },
      context: { mentions: [LID] },
      event: { responses: [{ participant: LID, response: 'GOING' }] },
      order: { seller: LID },
    });
    await new MessageWriter({ database }).recordMessage(fence, channel, record);
    await new ChatWriter({ database }).mergePeople(fence, channel, [PAIR]);
    expect(await new MessageReader({ database }).message(channel, 'id-G1')).toMatchObject({
      text: { body: `ask @${PAIR.phone}, not ${LID}` },
      event: { responses: [{ participant: PAIR.phone, response: 'GOING' }] },
      order: { seller: PAIR.phone },
    });
  });
});

import { randomBytes, randomInt } from 'node:crypto';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { GroupWriter } from '@dormouse/message-store/write';
import { Boom } from '@hapi/boom';
import type { GroupMetadata } from '@whiskeysockets/baileys';
import { WAMessageAddressingMode } from '../socket/test-library.js';
import { testNetwork } from '../socket/test-network.js';
import type { OpenSession } from '../socket/open-session.js';
import { GroupStore } from './group-store.js';

const ID = '120363000000000001@g.us';
const OTHER = '120363000000000002@g.us';

function described(id = ID, subject = 'Example Group'): GroupMetadata {
  return {
    id,
    subject,
    owner: undefined,
    creation: 1_790_000_000,
    addressingMode: WAMessageAddressingMode.LID,
    participants: [
      { id: '900000000009@lid', phoneNumber: '15550009999@s.whatsapp.net', admin: 'superadmin' },
      { id: '900000000002@lid', admin: null },
    ],
  };
}

describe('GroupStore', () => {
  let database: RegionalDatabase;
  let writer: GroupWriter;
  let reader: GroupReader;
  let store: GroupStore;
  let session: OpenSession;
  let channelId: string;
  /** What the network was queries, and what it answers. */
  let queries: string[];
  let answer: (id: string) => GroupMetadata | Promise<GroupMetadata>;
  let all: GroupMetadata[];
  const shard = randomInt(1_000_000, 2_000_000_000);
  const fence = { shard, epoch: 3n };
  const refusal = (code: number) => () => Promise.reject(new Boom('refused', { data: code }));

  beforeAll(async () => {
    database = openRegionalDatabase({
      url: process.env.TEST_REGIONAL_DATABASE_URL ?? '',
      applicationName: 'group-store-spec',
      maxConnections: 5,
    });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 3)', [shard]);
    writer = new GroupWriter({ database });
    reader = new GroupReader({ database });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    channelId = `CH-${randomBytes(6).toString('hex')}`;
    queries = [];
    all = [];
    answer = (id) => described(id);
    store = new GroupStore({ groups: writer, eventsReady: () => undefined });
    const lids = [{ lid: '900000000002@lid', pn: '15550002222:0@s.whatsapp.net' }];
    session = {
      channelId,
      fence,
      identity: { phone: '15550009999', lid: '900000000009', deviceId: 7, pushName: undefined },
      network: testNetwork({
        groupMetadata: async (id: string) => {
          queries.push(id);
          return answer(id);
        },
        groupFetchAllParticipating: () => {
          queries.push('all');
          return Promise.resolve(Object.fromEntries(all.map((group) => [group.id, group])));
        },
        signalRepository: { lidMapping: { getPNsForLIDs: () => Promise.resolve(lids) } },
      }),
    } as unknown as OpenSession;
  });

  const events = async () => (await new MessageReader({ database }).events(channelId, 0, 100)).length;

  it('queries the network once about a group that is not stored, then never while nothing happens', async () => {
    expect(await store.addressed(session, ID)).toBeUndefined();
    expect((await store.read(session, ID)).members).toHaveLength(2);
    expect((await store.read(session, ID)).members[1]).toMatchObject({ phone: '15550002222' });
    expect(await store.addressed(session, ID)).toMatchObject({ id: ID, addressingMode: 'lid' });
    expect(queries).toEqual([ID]);
  });

  it.each([401, 403, 404, 410])('is 404 when the network answers %i, and is stored as left', async (code) => {
    await store.read(session, ID);
    answer = refusal(code);
    await expect(store.refresh(session, ID)).rejects.toMatchObject({ status: 404 });
    await expect(store.read(session, ID)).rejects.toMatchObject({ status: 404 });
    expect(await reader.group(channelId, ID)).toBeUndefined();
    expect(queries).toEqual([ID, ID]);
  });

  it('stays as it is when the network refuses by its rate limit', async () => {
    await store.read(session, ID);
    answer = refusal(429);
    await expect(store.refresh(session, ID)).rejects.toMatchObject({ data: 429 });
    expect((await store.read(session, ID)).member).toBe(true);
  });

  it('is queried again when the result was overtaken by a notice', async () => {
    await store.read(session, ID);
    answer = async (id) => {
      if (queries.length > 2) return described(id, 'Third');
      await writer.changeGroup(fence, channelId, id, (group) => ({
        ...group,
        facts: { ...group.facts, name: 'Second' },
      }));
      return described(id, 'First');
    };
    await store.refresh(session, ID);
    expect(queries).toEqual([ID, ID, ID]);
    expect((await reader.group(channelId, ID))?.name).toBe('Third');
  });

  it('is queried again when a change could not be applied', async () => {
    await store.read(session, ID);
    answer = () => described(ID, 'Anew');
    await store.change(session, ID, () => undefined);
    expect((await store.read(session, ID)).facts.name).toBe('Anew');
    expect(queries).toEqual([ID, ID]);
  });

  it('stores all groups at once, without events of those that are new to it, and finds which were left', async () => {
    await store.read(session, OTHER);
    const before = await events();
    all = [described()];
    await store.refreshAll(session);
    expect(await events()).toBe(before);
    expect((await reader.listGroups(channelId, { count: 10, offset: 0 })).groups.map(({ id }) => id)).toEqual([ID]);
    expect(await store.syncedAtMs(session)).toBeGreaterThan(Date.now() - 60_000);
  });
});

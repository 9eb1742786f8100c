import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { checkRegion, recordRegion, RegionCheck, RegionMismatchError } from './region-check.js';

const key = randomBytes(32);
const keys = (bytes = key) => ({ settings: new Map([['k', bytes]]) });

describe('the region of a database', () => {
  let store: TestStore;
  let database: RegionalDatabase;

  beforeEach(async () => {
    store = await createTestDatabase('regional');
    database = openRegionalDatabase({ url: store.url, applicationName: 'region-check-spec' });
  });
  afterEach(async () => {
    await database.close();
    await store.drop();
  });

  it('is that of the first worker; a process of another region does not start', async () => {
    expect(await checkRegion(database, { region: 'eu', masterKeys: keys() })).toBe(false);
    await recordRegion(database, 'sg');
    await recordRegion(database, 'eu');
    expect(await checkRegion(database, { region: 'sg', masterKeys: keys() })).toBe(true);
    const refused = checkRegion(database, { region: 'eu', masterKeys: keys() });
    await expect(refused).rejects.toThrow(/that of region sg, and this process is configured for eu/);
    await expect(refused).rejects.toBeInstanceOf(RegionMismatchError);
  });

  it('knows its master keys by their ids, each purpose by itself, without holding them', async () => {
    await recordRegion(database, 'sg');
    await checkRegion(database, { region: 'sg', masterKeys: keys() });
    const other = randomBytes(32);
    await expect(checkRegion(database, { region: 'sg', masterKeys: keys(other) })).rejects.toThrow(
      /master key of settings that goes by the id "k" is not the one/,
    );
    expect(await checkRegion(database, { region: 'sg', masterKeys: { sessions: new Map([['k', other]]) } })).toBe(true);
    const { rows } = await database.pool.query<{ print: Buffer }>('SELECT print FROM master_key_prints');
    expect(rows.map(({ print }) => print.equals(key) || print.equals(other))).toEqual([false, false]);
  });

  it('is checked once at the start, and a start does not wait for a database that is away', async () => {
    await recordRegion(database, 'sg');
    await expect(new RegionCheck({ database, region: 'eu', masterKeys: {} }).start()).rejects.toThrow(/region sg/);
    const away = openRegionalDatabase({ url: 'postgresql://nobody@127.0.0.1:9/x', applicationName: 'spec' });
    const check = new RegionCheck({ database: away, region: 'eu', masterKeys: {} });
    await check.start();
    check.close();
    await away.close();
  });

  it('ends a process that began while the database was away, once it is there and another’s', async () => {
    const ended = new EventEmitter();
    const refused = once(ended, 'mismatch');
    const onMismatch = (error: Error) => ended.emit('mismatch', error);
    // The database has no region yet: checked again until it has one.
    const check = new RegionCheck({ database, region: 'eu', masterKeys: {}, onMismatch, retryMs: 10 });
    await check.start();
    await recordRegion(database, 'sg');
    expect(String((await refused)[0])).toMatch(/region sg/);
    check.close();
  });
});

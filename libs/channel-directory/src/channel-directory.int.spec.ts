import { randomBytes, randomInt } from 'node:crypto';
import { FencedError, openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { DEFAULT_SETTINGS } from '@dormouse/gateway-contract';
import { ChannelDirectory } from './channel-directory.js';
import type { SessionStateChange } from './session-states.js';
import { webhookIds } from './webhook-ids.js';

const url = process.env.TEST_REGIONAL_DATABASE_URL ?? '';

describe('ChannelDirectory', () => {
  let database: RegionalDatabase;
  let nowMs = Date.now();
  let directory: ChannelDirectory;
  /** Far from the shards other specs use. */
  const shard = randomInt(1_000_000, 2_000_000_000);
  const newId = () => `CH-${randomBytes(6).toString('hex')}`;
  const newHash = () => randomBytes(32);
  const create = async (tokenHash = newHash()) =>
    directory.create({ id: newId(), accountId: 'account', name: 'Shop', tokenHash, shard });
  const cursors = async (channelId: string) => {
    const { rows } = await database.pool.query<{ webhook_id: string; position: string }>(
      'SELECT webhook_id, position FROM webhook_cursors WHERE channel_id = $1',
      [channelId],
    );
    return Object.fromEntries(rows.map((row) => [row.webhook_id, Number(row.position)]));
  };

  beforeAll(async () => {
    database = openRegionalDatabase({ url, applicationName: 'channel-directory-spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES ($1, 3)', [shard]);
  });
  afterAll(() => database.close());
  beforeEach(() => {
    directory = new ChannelDirectory({ database, now: () => nowMs });
  });

  it('finds a channel by the hash of its token and by its id, with default settings and a closed session', async () => {
    const tokenHash = newHash();
    const created = await create(tokenHash);
    expect(await directory.byTokenHash(tokenHash)).toEqual(created);
    expect(await directory.byId(created.id)).toEqual(created);
    expect(created).toMatchObject({ standing: 'good', settings: DEFAULT_SETTINGS, deleted: false });
    expect(created.session).toMatchObject({ state: 'closed', reason: null, linked: false, phone: null });
    expect(await directory.byTokenHash(newHash())).toBeUndefined();
    expect(await directory.byId('no such')).toBeUndefined();
  });

  it('notifies the customer of each change of standing once, in the transaction that makes it', async () => {
    const { id } = await create();
    const notices = async () => {
      const { rows } = await database.pool.query<{ kind: string; payload: { errors: { code: number }[] } }>(
        `SELECT type || '.' || method AS kind, payload FROM events WHERE channel_id = $1 ORDER BY seq`,
        [id],
      );
      return rows.map(({ kind, payload }) => [kind, payload.errors[0]?.code]);
    };
    expect(await directory.setStanding(id, 'good', 1n)).toBeUndefined();
    expect(await directory.setStanding(id, 'past_due', 2n)).toBe(1);
    expect(await directory.setStanding(id, 'past_due', 3n)).toBeUndefined();
    expect((await directory.byId(id))?.standing).toBe('past_due');
    expect(await directory.setStanding(id, 'good', 4n)).toBe(2);
    expect(await notices()).toEqual([
      ['service.post', 402],
      ['service.post', 200],
    ]);
    expect(await directory.setStanding('no such', 'past_due', 5n)).toBeUndefined();
    await directory.markDeleted(id);
    expect(await directory.setStanding(id, 'past_due', 5n)).toBeUndefined();
  });

  it('keeps the newest standing, in whatever order they come, with a notice of those that were stored', async () => {
    const { id } = await create();
    const standings = ['past_due', 'over_free_allowance', 'good', 'past_due', 'good', 'over_free_allowance'] as const;
    const order = [2, 5, 0, 4, 1, 3, 5];
    await Promise.all(order.map((version) => directory.setStanding(id, standings[version] ?? 'good', BigInt(version))));
    expect((await directory.byId(id))?.standing).toBe('over_free_allowance');
    expect(await directory.setStanding(id, 'good', 4n)).toBeUndefined();
    expect(await directory.setStanding(id, 'good', 5n)).toBeUndefined();
    expect((await directory.refresh(id))?.standing).toBe('over_free_allowance');
  });

  it('refuses a rotated token elsewhere within a second, and accepts the new one at once', async () => {
    const old = newHash();
    const renewed = newHash();
    const channel = await create(old);
    const elsewhere = new ChannelDirectory({ database, now: () => nowMs });
    await elsewhere.byTokenHash(old);
    expect(await directory.rotateToken(channel.id, renewed, 1n)).toBe(true);
    expect((await elsewhere.byTokenHash(renewed))?.id).toBe(channel.id);
    expect(await directory.byTokenHash(old)).toBeUndefined();
    nowMs += 1_001;
    expect(await elsewhere.byTokenHash(old)).toBeUndefined();
    expect(await directory.rotateToken('no such', newHash(), 1n)).toBe(false);
  });

  it('keeps the newest token, in whatever order tokens arrive', async () => {
    const [newest, late] = [newHash(), newHash()];
    const { id } = await create();
    expect(await directory.rotateToken(id, newest, 7n)).toBe(true);
    for (const version of [6n, 7n]) expect(await directory.rotateToken(id, late, version)).toBe(true);
    expect((await directory.byTokenHash(newest))?.id).toBe(id);
    expect(await directory.byTokenHash(late)).toBeUndefined();
  });

  it('ends the token and the webhooks of a deleted channel but keeps its record', async () => {
    const tokenHash = newHash();
    const channel = await create(tokenHash);
    await directory.updateSettings(channel.id, { webhooks: [hook('https://a.example')] });
    expect(await directory.markDeleted(channel.id)).toBe(true);
    expect(await directory.byTokenHash(tokenHash)).toBeUndefined();
    expect(await directory.byId(channel.id)).toMatchObject({ deleted: true });
    expect(await cursors(channel.id)).toEqual({});
    expect(await directory.markDeleted(channel.id)).toBe(false);
    expect(await directory.updateSettings(channel.id, {})).toBeUndefined();
    expect(await directory.rotateToken(channel.id, newHash(), 9n)).toBe(false);
  });

  it('reports what a settings patch changed', async () => {
    const channel = await create();
    const update = await directory.updateSettings(channel.id, { auto_read: true, callback_persist: true });
    expect(update).toEqual({
      before: DEFAULT_SETTINGS,
      after: { ...DEFAULT_SETTINGS, auto_read: true },
      changes: ['auto_read'],
    });
    expect((await directory.byId(channel.id))?.settings).toEqual(update?.after);
  });

  it('starts a new webhook at the newest event, keeps the place of those that stay, drops those that go', async () => {
    const channel = await create();
    const setSequence = (seq: number) =>
      database.pool.query(
        `INSERT INTO event_sequences VALUES ($1, $2) ON CONFLICT (channel_id) DO UPDATE SET last_seq = $2`,
        [channel.id, seq],
      );
    await directory.updateSettings(channel.id, { webhooks: [hook('https://a.example'), hook('https://b.example')] });
    await setSequence(7);
    const after = await directory.updateSettings(channel.id, {
      webhooks: [hook('https://b.example'), hook('https://c.example')],
    });
    const [b, c] = webhookIds(after?.after ?? { webhooks: [] });
    expect(await cursors(channel.id)).toEqual({ [b ?? '']: 0, [c ?? '']: 7 });
  });

  it('loses neither of two settings patches made at the same time', async () => {
    const channel = await create();
    await Promise.all([
      directory.updateSettings(channel.id, { auto_read: true }),
      directory.updateSettings(channel.id, { offline_mode: true }),
    ]);
    const settings = (await directory.refresh(channel.id))?.settings;
    expect(settings).toMatchObject({ auto_read: true, offline_mode: true });
  });

  it('records the state of a session for its owner, leaving absent facts as they are', async () => {
    const channel = await create();
    const fence = { shard, epoch: 3n };
    await directory.recordSessionState(fence, channel.id, {
      state: 'open',
      linked: true,
      phone: '15550009999',
      lid: '900000000001',
      deviceId: 7,
      pushName: 'Shop',
    });
    const opened = await directory.refresh(channel.id);
    await directory.recordSessionState(fence, channel.id, { state: 'connecting', reason: 'stream_dropped' });
    const dropped = await directory.refresh(channel.id);
    expect(opened?.session).toMatchObject({ state: 'open', reason: null, linked: true, deviceId: 7 });
    expect(dropped?.session).toMatchObject({ state: 'connecting', reason: 'stream_dropped', phone: '15550009999' });
    expect((await directory.linkedAwakeChannels(shard)).map(({ id }) => id)).toContain(channel.id);
    await directory.recordSessionState(fence, channel.id, { state: 'closed', linked: false, phone: null });
    expect((await directory.refresh(channel.id))?.session).toMatchObject({
      linked: false,
      phone: null,
      lid: '900000000001',
    });
    expect((await directory.linkedAwakeChannels(shard)).map(({ id }) => id)).not.toContain(channel.id);
  });

  it('records in one statement what no customer sees, and nothing that one would see', async () => {
    const channel = await create();
    const fence = { shard, epoch: 3n };
    const record = (change: SessionStateChange) => directory.recordSilentState(fence, channel.id, change);
    const state = async () => (await directory.refresh(channel.id))?.session.state;
    expect(await record({ state: 'open' })).toBe(false); // it is not linked
    await directory.recordSessionState(fence, channel.id, { state: 'open', linked: true, phone: '15550009999' });
    const opened = (await directory.refresh(channel.id))?.session.sinceMs ?? 0;
    nowMs += 1;
    expect(await record({ state: 'hibernating' })).toBe(true);
    expect((await directory.byId(channel.id))?.session.state).toBe('hibernating');
    expect((await directory.byId(channel.id))?.session.sinceMs).toBeGreaterThanOrEqual(opened);
    expect(await record({ state: 'open', linked: true, phone: '15550009999', lid: null })).toBe(true);
    for (const seen of [
      { state: 'connecting' },
      { state: 'open', reason: 'replaced' },
      { state: 'open', phone: '15550008888' },
      { state: 'open', pushName: 'Shop' },
      { state: 'open', linked: false },
    ] as const) {
      expect(await record(seen)).toBe(false);
    }
    expect(await state()).toBe('open');
    await directory.recordSessionState(fence, channel.id, { state: 'hibernated', reason: 'stores_away' });
    expect(await record({ state: 'open' })).toBe(false); // the reason goes
    await expect(
      directory.recordSilentState({ shard, epoch: 2n }, channel.id, { state: 'open' }),
    ).rejects.toBeInstanceOf(FencedError);
  });

  it.each(['a\u0000b', 'a\uD83D', '\uDE00b'])('stores a state with any name that the owner chose: %j', async (name) => {
    const channel = await create();
    await directory.recordSessionState({ shard, epoch: 3n }, channel.id, { state: 'open', pushName: name });
    const session = (await directory.refresh(channel.id))?.session;
    expect(session).toMatchObject({ state: 'open', pushName: name.replace(/[\0\p{Surrogate}]/gu, '\uFFFD') });
  });

  it('keeps the time since when a session is in a state while the state stays', async () => {
    const channel = await create();
    const fence = { shard, epoch: 3n };
    await directory.recordSessionState(fence, channel.id, { state: 'open' });
    const first = (await directory.refresh(channel.id))?.session.sinceMs;
    await directory.recordSessionState(fence, channel.id, { state: 'open', pushName: 'Shop' });
    expect((await directory.refresh(channel.id))?.session.sinceMs).toBe(first);
  });

  it('refuses a session state from an older epoch and for a channel of another shard', async () => {
    const channel = await create();
    await expect(
      directory.recordSessionState({ shard, epoch: 2n }, channel.id, { state: 'open' }),
    ).rejects.toBeInstanceOf(FencedError);
    const foreign = await directory.create({
      id: newId(),
      accountId: 'account',
      name: 'Other',
      tokenHash: newHash(),
      shard: shard + 1,
    });
    expect(await directory.recordSessionState({ shard, epoch: 3n }, foreign.id, { state: 'open' })).toBe(false);
    expect((await directory.refresh(channel.id))?.session.state).toBe('closed');
    expect((await directory.refresh(foreign.id))?.session.state).toBe('closed');
  });

  it('gives the next channel to the emptiest shard, the lowest of equals', async () => {
    // A schema of its own: other specs have channels in the low shards, too.
    const schema = `spec_${randomBytes(6).toString('hex')}`;
    await database.pool.query(`CREATE SCHEMA ${schema}`);
    await database.pool.query(`CREATE TABLE ${schema}.channels (LIKE public.channels INCLUDING ALL)`);
    await database.pool.query(`CREATE TABLE ${schema}.shard_leases (LIKE public.shard_leases INCLUDING ALL)`);
    const alone = new URL(url);
    alone.searchParams.set('options', `-c search_path=${schema}`);
    const own = openRegionalDatabase({ url: alone.toString(), applicationName: 'channel-directory-spec' });
    try {
      const emptied = new ChannelDirectory({ database: own });
      const add = async (at: number) => {
        const given = { id: newId(), accountId: 'a', name: 'n', tokenHash: newHash(), shard: at };
        return (await emptied.create(given)).id;
      };
      expect(await emptied.pickShard()).toBeUndefined();
      await own.pool.query('INSERT INTO shard_leases (shard) SELECT generate_series(0, 2)');
      expect(await emptied.pickShard()).toBe(0);
      const first = await add(0);
      await add(1);
      expect(await emptied.pickShard()).toBe(2);
      await add(2);
      await add(0);
      expect(await emptied.pickShard()).toBe(1);
      await add(1);
      await add(2);
      await own.pool.query('UPDATE channels SET deleted_at = now() WHERE id = $1', [first]);
      expect(await emptied.pickShard()).toBe(0);
    } finally {
      await own.close();
      await database.pool.query(`DROP SCHEMA ${schema} CASCADE`);
    }
  });
});

function hook(url: string) {
  return { url, mode: 'body' as const, events: [{ type: 'messages' as const, method: 'post' as const }] };
}

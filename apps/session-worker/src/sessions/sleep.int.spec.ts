import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ChannelDirectory, type ChannelRecord } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { EventWriter } from '@dormouse/message-store/write';
import { ObjectStorage } from '@dormouse/object-storage';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { librarySocket } from '../socket/test-network.js';
import { AuthRows } from '../auth-state/auth-rows.js';
import { networkAuthStates } from '../socket/key-format.js';
import { ShardLeases } from '@dormouse/database/shards';
import { ShardOwner, type HeldShard } from '../shards/shard-owner.js';
import { silenceConsole } from '../socket/patches/silent-console.js';
import { Hibernation } from '../hibernation/hibernation.js';
import { DEFAULT_SLEEP } from '../hibernation/sleep-policy.js';
import { startTestNetwork, type TestNetwork } from '../test-network.js';
import { ChangeSignal } from './change-signal.js';
import { deferred } from '../socket/deferred.js';
import type { OpenSession } from '../socket/open-session.js';
import { createSessions } from './create-sessions.js';
import type { Sessions } from './sessions.js';
import { HibernationScheduler } from './hibernation-scheduler.js';
import { StateEvents } from './state-events.js';
import { silent } from './test-sessions.js';

jest.setTimeout(120_000);

const masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
const soon = (): number => Date.now() + 40_000;
const textOf = ({ message }: WAMessage): string | null | undefined =>
  message?.conversation ?? message?.extendedTextMessage?.text;

describe('sleep', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let bucket: TestBucket;
  let storage: ObjectStorage;
  const failedWakes: string[] = [];
  let directory: ChannelDirectory;
  let sessions: Sessions;
  let scheduler: HibernationScheduler;
  let owner: ShardOwner;
  let hibernation: Hibernation;
  let restoreConsole = (): void => undefined;
  const sockets: OpenSession[] = [];
  const socketsOf = (id: string): number => sockets.filter(({ channelId }) => channelId === id).length;
  const received: WAMessage[] = [];
  const changed = new ChangeSignal();
  let channelCount = 0;
  let wakes = 0;

  const startOwner = async (workerId: string): Promise<void> => {
    const held = deferred<HeldShard>();
    hibernation = new Hibernation({ database, storage, masterKeys, packsPreKeys: true, log: silent });
    sessions = createSessions({
      directory,
      authStates: networkAuthStates(new AuthRows(database), masterKeys),
      hibernation,
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey },
      listeners: [
        {
          attach: (session) => {
            sockets.push(session);
            session.network.events.onGathered(({ messages: { messages } = { messages: [] } }) => {
              received.push(...messages);
              session.settle(messages);
              changed.fire();
            });
            return { drained: () => Promise.resolve() };
          },
        },
      ],
      recall: () => Promise.resolve(undefined),
      groups: { read: () => Promise.reject(new Error('not used here')), addressed: () => Promise.resolve(undefined) },
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 30 },
      restMs: 60_000,
      ackWaitMs: 5_000,
      connectingAtOnce: 10,
      startJitterMs: 0,
      states: new StateEvents({
        directory,
        events: new EventWriter({ database }),
        eventsReady: () => undefined,
        version: 'spec',
        log: silent,
        now: Date.now,
      }),
      log: silent,
      observer: {
        closed: () => changed.fire(),
        woken: () => (wakes += 1),
        wakeFailed: ({ name }) => failedWakes.push(name),
      },
    });
    scheduler = new HibernationScheduler({
      sessions,
      directory,
      database,
      defaults: DEFAULT_SLEEP,
      everyMs: 1_000,
      atOnce: 3,
      log: silent,
    });
    owner = new ShardOwner({
      leases: new ShardLeases({ database, workerId, ttlMs: 10_000 }),
      renewEveryMs: 100,
      marginMs: 3_000,
      finishWithinMs: 10_000,
      log: silent,
      startWork: (shard) => {
        void sessions.takeOver(shard).then(() => held.resolve(shard));
        return { finish: () => sessions.handOff(shard), abandon: () => sessions.abandon(shard) };
      },
    });
    owner.start();
    await held.promise;
  };

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    [store, bucket, network] = await Promise.all([
      createTestDatabase('regional'),
      createTestBucket(),
      startTestNetwork(),
    ]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'sleep-spec' });
    storage = new ObjectStorage(bucket);
    directory = new ChannelDirectory({ database, cacheMs: 0 });
    await new ShardLeases({ database, workerId: 'setup', ttlMs: 1_000 }).ensureShards(1);
    await startOwner('first');
  });

  afterAll(async () => {
    await owner.drain();
    expect((await network.call<{ overlaps: number }>('GET', '/connections')).overlaps).toBe(0);
    await network.stop();
    storage.close();
    await bucket.drop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  const record = async (channelId: string): Promise<ChannelRecord> => {
    const found = await directory.refresh(channelId);
    if (!found) throw new Error('no channel');
    return found;
  };

  /** Polls; states are stored in the background. */
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    const deadlineMs = soon();
    while (!(await condition())) {
      if (Date.now() > deadlineMs) throw new Error('waited in vain');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const untilState = (channelId: string, state: string): Promise<void> =>
    until(async () => (await record(channelId)).session.state === state);

  const linked = async (): Promise<{ channelId: string; phone: string; friend: string }> => {
    const channelId = `sleeper-${++channelCount}`;
    await directory.create({ id: channelId, accountId: 'a', name: channelId, tokenHash: randomBytes(32), shard: 0 });
    const { code } = await sessions.loginCode(channelId, soon());
    const { phone } = await network.call<{ phone: string }>('POST', '/phones', {});
    await network.call('POST', `/phones/${phone}/scan`, { qr: code });
    await untilState(channelId, 'open');
    const { phone: friend } = await network.call<{ phone: string }>('POST', '/phones', {});
    return { channelId, phone, friend };
  };

  /** Linked, and the owner's name has arrived. */
  const named = async (): Promise<{ channelId: string; phone: string; pushName: string }> => {
    const { channelId, phone } = await linked();
    await until(async () => (await record(channelId)).session.pushName !== null);
    return { channelId, phone, pushName: (await record(channelId)).session.pushName ?? '' };
  };

  const receives = (text: string): Promise<void> => until(() => received.some((message) => textOf(message) === text));

  const sends = async (channelId: string, friend: string, text: string): Promise<void> => {
    await librarySocket(await sessions.open(channelId, soon())).sendMessage(`${friend}@s.whatsapp.net`, { text });
    await network.call('POST', `/phones/${friend}/messages/wait`, { text, timeoutMs: 10_000 });
  };

  const sendsTo = (friend: string, phone: string, text: string): Promise<unknown> =>
    network.call('POST', `/phones/${friend}/messages`, { to: phone, text });

  /** Events of the channel itself, in order, without codes. */
  const channelEvents = async (channelId: string): Promise<string[]> => {
    const { rows } = await database.pool.query<{ what: string }>(
      `SELECT concat_ws(' ', type || '.' || method, payload #>> '{health,status,text}') AS what FROM events
       WHERE channel_id = $1 AND NOT (type = 'channel' AND method = 'patch') ORDER BY seq`,
      [channelId],
    );
    return rows.map(({ what }) => what);
  };

  const objects = async (channelId: string): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of storage.list(`sessions/${channelId}/`)) keys.push(key);
    return keys;
  };

  const rowsLeft = async (channelId: string): Promise<number> => {
    const where = { where: { channelId } };
    const { authCreds, authKey, channelKey } = database.prisma;
    return (await authCreds.count(where)) + (await authKey.count(where)) + (await channelKey.count(where));
  };

  const sleeps = async (channelId: string): Promise<void> => {
    await until(() => scheduler.putToSleep(channelId));
    await untilState(channelId, 'hibernated');
    await until(() => sessions.all.every((session) => session.channelId !== channelId));
  };

  it('costs a row and an object while it lasts, and continues with what arrived meanwhile', async () => {
    const { channelId, phone, friend } = await linked();
    await sends(channelId, friend, 'before');
    await sleeps(channelId);
    expect(await rowsLeft(channelId)).toBe(0);
    expect(await objects(channelId)).toHaveLength(1);
    await sendsTo(friend, phone, 'meanwhile');
    await sends(channelId, friend, 'after');
    await Promise.all([receives('meanwhile'), untilState(channelId, 'open')]);
    expect((await record(channelId)).session).toMatchObject({ state: 'open', linked: true, reason: null });
  });

  it('is ended once by all requests that need the session at the same time', async () => {
    const { channelId } = await linked();
    await sleeps(channelId);
    const [before, beforeWakes] = [socketsOf(channelId), wakes];
    const opened = await Promise.all(Array.from({ length: 20 }, () => sessions.open(channelId, soon())));
    expect([new Set(opened).size, socketsOf(channelId) - before, wakes - beforeWakes]).toEqual([1, 1, 1]);
  });

  it('keeps the last two generations and every ratchet over many rounds', async () => {
    const { channelId, phone, friend } = await linked();
    for (let round = 1; round <= 6; round++) {
      await sendsTo(friend, phone, `to ${channelId} ${round}`);
      await sends(channelId, friend, `from ${channelId} ${round}`);
      await receives(`to ${channelId} ${round}`);
      await sleeps(channelId);
    }
    expect(await objects(channelId)).toHaveLength(2);
    await sessions.open(channelId, soon());
    await receives(`to ${channelId} 6`);
    // What was decrypted and is delivered once more by the network cannot be decrypted again; that is no broken ratchet.
    const isUnreadable = ({ messageStubType: type }: WAMessage) => type === proto.WebMessageInfo.StubType.CIPHERTEXT;
    const read = new Set(received.filter((message) => !isUnreadable(message)).map(({ key }) => key.id));
    expect(received.filter((message) => isUnreadable(message) && !read.has(message.key.id))).toEqual([]);
  });

  it.each([
    ['is cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
    [
      'has one bit turned',
      (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte))),
    ],
    ['is something else', () => Buffer.from('cut short')],
  ])('goes back to the generation before when the newest %s', async (_, spoiled) => {
    const { channelId, friend } = await linked();
    await sleeps(channelId);
    await sessions.open(channelId, soon());
    await sleeps(channelId);
    const [older, newest] = await objects(channelId);
    const { stream } = await storage.get(newest ?? '');
    await storage.put(newest ?? '', spoiled(await buffer(stream)));
    await sends(channelId, friend, 'still there');
    await sleeps(channelId);
    const left = await objects(channelId);
    expect(left).toHaveLength(2);
    expect(left[0]).toBe(older);
    expect(left).not.toContain(newest);
  });

  it('reports that the number must be linked again when no generation opens, and overwrites nothing', async () => {
    const { channelId } = await linked();
    await sleeps(channelId);
    const [only] = await objects(channelId);
    await storage.put(only ?? '', Buffer.from('broken'));
    await expect(sessions.open(channelId, soon())).rejects.toMatchObject({ status: 503 });
    await untilState(channelId, 'closed');
    expect((await record(channelId)).session).toMatchObject({ linked: true, reason: 'state_unreadable' });
    expect(await objects(channelId)).toEqual([only]);
    await sessions.logout(channelId);
    expect(await objects(channelId)).toEqual([]);
    expect((await record(channelId)).session).toMatchObject({ state: 'closed', linked: false });
  });

  it('continues when a wake is given up: the waiting request is answered, and it is counted', async () => {
    const { channelId, friend } = await linked();
    await sleeps(channelId);
    const restore = jest.spyOn(hibernation, 'restore').mockRejectedValue(new Error('away'));
    await expect(sessions.open(channelId, soon())).rejects.toMatchObject({ status: 503 });
    restore.mockRestore();
    expect(failedWakes).toEqual(['stores_away']);
    await sends(channelId, friend, 'after that');
    expect(failedWakes).toHaveLength(1);
  });

  it('notices at the wake that the number was unlinked', async () => {
    const { channelId, phone } = await linked();
    const { deviceId } = (await record(channelId)).session;
    await sleeps(channelId);
    await network.call('DELETE', `/phones/${phone}/devices/${deviceId}`);
    await expect(sessions.open(channelId, soon())).rejects.toMatchObject({ status: 503 });
    await untilState(channelId, 'closed');
    expect((await record(channelId)).session).toMatchObject({ linked: false, reason: 'unlinked' });
    expect([await objects(channelId), await rowsLeft(channelId)]).toEqual([[], 0]);
  });

  it('begins with a channel whose events name its owner, also where the phone sends the name after the link', async () => {
    const { channelId, phone, pushName } = await named();
    const { rows } = await database.pool.query<{ user: unknown }>(
      `SELECT payload #> '{health,user}' AS user FROM events WHERE channel_id = $1 AND type = 'channel'
       AND method = 'post' ORDER BY seq DESC LIMIT 1`,
      [channelId],
    );
    expect(rows[0]?.user).toEqual({ id: phone, name: pushName, pushname: pushName });
  });

  it('is invisible to the customer: neither falling asleep nor a wake on schedule or on demand is notified', async () => {
    const { channelId } = await named();
    const before = await channelEvents(channelId);
    expect(before.at(-1)).toBe('channel.post connected');
    await sleeps(channelId);
    await database.pool.query('UPDATE channels SET wake_at = now() WHERE id = $1', [channelId]);
    await scheduler.runRound();
    await untilState(channelId, 'open');
    await sleeps(channelId);
    await sessions.open(channelId, soon());
    await untilState(channelId, 'open');
    expect(await channelEvents(channelId)).toEqual(before);
  });

  it('does not hide what a customer must know: a number that was unlinked meanwhile', async () => {
    const { channelId, phone } = await named();
    const { deviceId } = (await record(channelId)).session;
    await sleeps(channelId);
    const before = await channelEvents(channelId);
    await network.call('DELETE', `/phones/${phone}/devices/${deviceId}`);
    await database.pool.query('UPDATE channels SET wake_at = now() WHERE id = $1', [channelId]);
    await scheduler.runRound();
    await untilState(channelId, 'closed');
    expect((await channelEvents(channelId)).slice(before.length)).toEqual(['users.delete', 'channel.post not_linked']);
  });

  it('does not begin while the object storage is away: the session stays awake', async () => {
    const { channelId, friend } = await linked();
    const seal = jest.spyOn(hibernation, 'seal').mockRejectedValue(new Error('away'));
    await until(async () => !(await scheduler.putToSleep(channelId)));
    seal.mockRestore();
    await sends(channelId, friend, 'awake');
    expect(await objects(channelId)).toEqual([]);
  });

  it('is interrupted at its time to receive what has arrived, and continues when nothing more arrives', async () => {
    const { channelId, phone, friend } = await linked();
    await database.pool.query(`UPDATE channels SET sleep_override = '{"idleAfterMs": 1500}' WHERE id = $1`, [
      channelId,
    ]);
    await sleeps(channelId);
    await sendsTo(friend, phone, 'for the drain');
    await scheduler.runRound();
    expect((await record(channelId)).session.state).toBe('hibernated');
    await database.pool.query('UPDATE channels SET wake_at = now() WHERE id = $1', [channelId]);
    await scheduler.runRound();
    await receives('for the drain');
    await until(async () => {
      await scheduler.runRound();
      return (await record(channelId)).session.state === 'hibernated';
    });
  });

  it('lasts over a change of owner, who wakes nobody', async () => {
    const { channelId, friend } = await linked();
    await sleeps(channelId);
    await owner.drain();
    const before = socketsOf(channelId);
    await startOwner('second');
    await until(() => sessions.all.length > 0);
    expect((await record(channelId)).session.state).toBe('hibernated');
    expect(socketsOf(channelId)).toBe(before);
    await sends(channelId, friend, 'under the second owner');
  });

  it('ends for good when the channel was deleted while its shard had no owner', async () => {
    const { channelId, phone } = await linked();
    await sleeps(channelId);
    await directory.markDeleted(channelId);
    for (const held of sessions.held) await sessions.tidy(held);
    expect([await objects(channelId), await rowsLeft(channelId)]).toEqual([[], 0]);
    expect((await network.call<{ devices: unknown[] }>('GET', `/phones/${phone}`)).devices).toEqual([]);
  });
});

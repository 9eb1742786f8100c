/** Messages that were decrypted and acknowledged, and then the worker died: heard by the next one, in order, once. */
import { randomBytes } from 'node:crypto';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { jest } from '@jest/globals';
import type { WAMessage } from '@whiskeysockets/baileys';
import { AuthRows } from './auth-state/auth-rows.js';
import { AuthStates } from './auth-state/auth-state.js';
import { ChangeSignal } from './sessions/change-signal.js';
import type { SessionListener } from './sessions/open-session.js';
import { Sessions } from './sessions/sessions.js';
import type { HeldShard } from './shards/shard-owner.js';
import { NOBODY_SLEEPS } from './test-sleep.js';
import { silenceConsole } from './silent-console.js';
import { startTestNetwork, type TestNetwork } from './test-network.js';

jest.setTimeout(40_000);

const CHANNEL = 'CH-JOURNAL';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const soon = (): number => Date.now() + 15_000;

/** What one worker's listener heard. A deaf one stores nothing, as one that dies at once. */
class Listener implements SessionListener {
  readonly heard: WAMessage[] = [];
  readonly news = new ChangeSignal();

  constructor(private readonly isDeaf: boolean) {}

  attach(session: Parameters<SessionListener['attach']>[0]) {
    session.socket.ev.on('messages.upsert', ({ messages }) => {
      this.heard.push(...messages.filter(({ message }) => message?.conversation ?? message?.extendedTextMessage));
      if (!this.isDeaf) session.settle(messages);
      this.news.fire();
    });
    return { drained: () => Promise.resolve() };
  }

  /** Each message once: whoever stores by id has it once, however often the network brings it. */
  get texts(): (string | null | undefined)[] {
    const ids = this.heard.map(({ key }) => key.id);
    const first = this.heard.filter(({ key }, index) => ids.indexOf(key.id) === index);
    return first.map(({ message }) => message?.conversation ?? message?.extendedTextMessage?.text);
  }

  async until(isRight: () => boolean): Promise<void> {
    const giveUpAt = soon();
    for (;;) {
      const changed = this.news.changedBy(Math.min(giveUpAt, Date.now() + 200));
      if (isRight()) return;
      if (Date.now() > giveUpAt) throw new Error(`waited in vain; heard ${JSON.stringify(this.texts)}`);
      await changed;
    }
  }
}

describe('the journal of what was decrypted', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let sessions: Sessions;
  let own: string;
  let ada: string;
  let restoreConsole = (): void => undefined;
  const masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
  const held: HeldShard = {
    fence: { shard: 0, epoch: 1n },
    isHeld: () => true,
    verify: () => Promise.resolve(true),
    lose: () => undefined,
  };

  /** A worker whose listener is deaf, or hears and stores. */
  const startWorker = async (isDeaf: boolean): Promise<Listener> => {
    const listener = new Listener(isDeaf);
    sessions = new Sessions({
      directory: new ChannelDirectory({ database, cacheMs: 0 }),
      database,
      authStates: new AuthStates(new AuthRows(database), masterKeys),
      hibernation: NOBODY_SLEEPS,
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey },
      listeners: [listener],
      recall: () => Promise.resolve(undefined),
      groups: { read: () => Promise.reject(new Error('not asked')), addressed: () => Promise.resolve(undefined) },
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 6 },
      restMs: 60_000,
      ackWaitMs: 1_500,
      connectingAtOnce: 10,
      startJitterMs: 0,
      log: silent,
    });
    await sessions.takeOver(held);
    return listener;
  };
  /** As dead as a process can be made from inside: sockets are cut, nothing is drained. */
  const crash = (): void => sessions.abandon(held);
  const newPhone = (name: string) => network.call<{ phone: string }>('POST', '/phones', { name });
  const send = (to: string, text: string) =>
    network.call<{ id: string }>('POST', `/phones/${ada}/messages`, { to, text });
  const journal = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM auth_keys WHERE type = 'inbound-journal'`,
    );
    return rows[0]?.count ?? -1;
  };
  const emptied = async (): Promise<void> => {
    for (const giveUpAt = soon(); (await journal()) > 0;) {
      if (Date.now() > giveUpAt) throw new Error('the journal is never emptied');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    [store, network] = await Promise.all([createTestDatabase('regional'), startTestNetwork()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'journal-spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (0, 1)');
    await new ChannelDirectory({ database }).create({
      id: CHANNEL,
      accountId: 'a',
      name: CHANNEL,
      tokenHash: randomBytes(32),
      shard: 0,
    });
    await startWorker(false);
    const { code } = await sessions.loginCode(CHANNEL, soon());
    own = (await newPhone('Example Shop')).phone;
    await network.call('POST', `/phones/${own}/scan`, { qr: code });
    await sessions.open(CHANNEL, soon());
    ada = (await newPhone('Ada Example')).phone;
    await emptied();
    await sessions.handOver(held);
  });
  afterAll(async () => {
    await sessions.handOver(held);
    await network.stop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  it('is what the next worker hears first, in order, and only that worker', async () => {
    const deaf = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    const sent: { id: string }[] = [];
    for (const text of ['one', 'two', 'three']) sent.push(await send(own, text));
    await deaf.until(() => deaf.texts.length === 3);
    crash();
    expect(await journal()).toBeGreaterThanOrEqual(3); // what the phone shares with a new device may be there, too
    await send(own, 'four');
    const next = await startWorker(false);
    await next.until(() => next.texts.includes('four'));
    expect(next.texts).toEqual(['one', 'two', 'three', 'four']);
    expect([...new Set(next.heard.map(({ key }) => key.id))].slice(0, 3)).toEqual(sent.map(({ id }) => id));
    await emptied();
    await sessions.handOver(held);
    const third = await startWorker(false);
    await send(own, 'five');
    await third.until(() => third.texts.includes('five'));
    // What the network brings again for want of a receipt may come; nothing comes out of the journal.
    expect(third.texts.filter((text) => text === 'one' || text === 'two')).toEqual([]);
    await emptied();
    await sessions.handOver(held);
  });

  it('holds messages in groups, whose keys come with the first of them', async () => {
    const { id: group } = await network.call<{ id: string }>('POST', `/phones/${ada}/groups`, {
      subject: 'Neighbours',
      members: [own],
    });
    const deaf = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await send(group, 'in the group');
    await send(group, 'again');
    await deaf.until(() => deaf.texts.length === 2);
    crash();
    const next = await startWorker(false);
    await send(group, 'after');
    await next.until(() => next.texts.includes('after'));
    expect(next.texts).toEqual(['in the group', 'again', 'after']);
    expect(next.heard.every(({ key }) => key.remoteJid === group)).toBe(true);
    await emptied();
    await sessions.handOver(held);
  });

  it('gives the content of a ciphertext that the network brings again, because it heard no receipt', async () => {
    const fault = await network.call<{ id: string }>('POST', '/faults', { kind: 'lose-receipts', phone: own });
    const deaf = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await send(own, 'twice');
    await deaf.until(() => deaf.texts.includes('twice'));
    crash();
    await network.call('DELETE', `/faults/${fault.id}`);
    const next = await startWorker(false);
    await send(own, 'later');
    await next.until(() => next.texts.includes('later'));
    // The one the network brought again has the id of the one before: whoever stores by id has it once.
    expect([...new Set(next.heard.map(({ key }) => key.id))]).toHaveLength(2);
    expect(next.texts[0]).toBe('twice');
    await emptied();
    await sessions.handOver(held);
  });

  it('is sealed: the database never holds a word of it in the clear', async () => {
    const deaf = await startWorker(true);
    await sessions.open(CHANNEL, soon());
    await send(own, 'a secret word');
    await deaf.until(() => deaf.texts.length === 1);
    crash();
    const { rows } = await database.pool.query<{ sealed: Buffer }>(
      `SELECT sealed FROM auth_keys WHERE type = 'inbound-journal'`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { sealed } of rows) {
      expect(sealed.includes('secret')).toBe(false);
      expect(sealed.includes(Buffer.from('a secret word').toString('base64').slice(0, 12))).toBe(false);
    }
  });
});

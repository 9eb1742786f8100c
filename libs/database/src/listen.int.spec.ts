import { randomBytes } from 'node:crypto';
import { FaultProxy } from '@dormouse/stack/test-fault-proxy';
import type { Listener } from './listen.js';
import { openRegionalDatabase, type RegionalDatabase } from './open-database.js';

const url = process.env.TEST_REGIONAL_DATABASE_URL ?? '';

describe('a listening connection', () => {
  let database: RegionalDatabase;
  const channel = `spec_${randomBytes(6).toString('hex')}`;
  const listeners: Listener[] = [];
  const applicationName = `listen-spec-${randomBytes(4).toString('hex')}`;

  /** What it notified of, until the marker is received or the connection has ended. */
  const listenOn = (on: RegionalDatabase) => {
    const notified: string[] = [];
    let resolveListening: () => void;
    let resolveEnded: (error: Error) => void;
    const listening = new Promise<void>((resolve) => (resolveListening = resolve));
    const ended = new Promise<Error>((resolve) => (resolveEnded = resolve));
    let resolveMarked: () => void;
    const marked = new Promise<void>((resolve) => (resolveMarked = resolve));
    const listener = on.listen({
      channels: [channel, `${channel}_end`],
      purpose: 'spec',
      onListening: () => {
        notified.push('listening');
        resolveListening();
      },
      onNotification: (of, payload) => {
        if (of === channel) notified.push(payload);
        else resolveMarked();
      },
      onEnd: (error) => {
        notified.push('end');
        resolveEnded(error);
      },
    });
    listeners.push(listener);
    return { listener, notified, listening, marked, ended };
  };
  const notify = (payload: string, on = channel) => database.pool.query('SELECT pg_notify($1, $2)', [on, payload]);

  beforeAll(() => {
    database = openRegionalDatabase({ url, applicationName });
  });
  afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.close())));
  afterAll(() => database.close());

  it('receives in the order of commits what is notified once it listens, and what is rolled back never', async () => {
    const { notified, listening, marked } = listenOn(database);
    await listening;
    const [first, second] = [await database.pool.connect(), await database.pool.connect()];
    await first.query(`BEGIN; SELECT pg_notify('${channel}', 'begun first')`);
    await second.query(`BEGIN; SELECT pg_notify('${channel}', 'committed first')`);
    await second.query('COMMIT');
    await first.query('COMMIT');
    await first.query(`BEGIN; SELECT pg_notify('${channel}', 'rolled back'); ROLLBACK`);
    first.release();
    second.release();
    await notify('last');
    await notify('', `${channel}_end`);
    await marked;
    expect(notified).toEqual(['listening', 'committed first', 'begun first', 'last']);
  });

  it('notifies of its end once, and is called by its app and its purpose', async () => {
    const { listener, notified, listening, ended } = listenOn(database);
    await listening;
    const { rowCount } = await database.pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
      [`${applicationName} spec`],
    );
    expect(rowCount).toBe(1);
    expect((await ended).message).toContain('terminat');
    await listener.close();
    expect(notified).toEqual(['listening', 'end']);
  });

  it('notifies when no connection can be made', async () => {
    const nowhere = openRegionalDatabase({ url: 'postgresql://a:b@127.0.0.1:1/none', applicationName });
    const { notified, ended } = listenOn(nowhere);
    expect((await ended).message).toContain('ECONNREFUSED');
    expect(notified).toEqual(['end']);
    await nowhere.close();
  });

  it('notifies of nothing any more once it is closed, be it connected or not', async () => {
    const early = listenOn(database);
    await early.listener.close();
    const { listener, notified, listening } = listenOn(database);
    await listening;
    await listener.close();
    await notify('after');
    const left = await database.pool.query('SELECT 1 FROM pg_stat_activity WHERE application_name = $1', [
      `${applicationName} spec`,
    ]);
    expect(notified).toEqual(['listening']);
    expect(early.notified).toEqual([]);
    expect(left.rowCount).toBe(0);
  });

  it('does not keep the process from ending', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    await database.pool.query('SELECT 1');
    const before = sockets();
    const { listening } = listenOn(database);
    await listening;
    expect(sockets()).toBe(before);
  });

  it('is closed within a second or so although the server has fallen silent', async () => {
    const proxy = await FaultProxy.to(url);
    const silent = openRegionalDatabase({ url: proxy.url, applicationName });
    const { listener, notified, listening } = listenOn(silent);
    await listening;
    proxy.silence();
    await listener.close();
    expect(notified).toEqual(['listening']);
    await proxy.close();
    await silent.close();
  });
});

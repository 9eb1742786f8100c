import { randomUUID } from 'node:crypto';
import { closeRedis, openRedis, subscribeTo, type Redis } from './index.js';

jest.setTimeout(30_000);

const url = process.env.TEST_REDIS_URL ?? '';
const NO_SERVER = 'redis://127.0.0.1:1';

describe('redis connections', () => {
  const opened: Redis[] = [];
  const open = (settings: Partial<Parameters<typeof openRedis>[0]> = {}) => {
    const redis = openRedis({ url, name: `spec-${randomUUID()}`, ...settings });
    opened.push(redis);
    return redis;
  };
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Ends the server's side of the connection that has this name. */
  const drop = async (by: Redis, name: string) => {
    const clients = String(await by.call('CLIENT', 'LIST'));
    const line = clients.split('\n').find((candidate) => candidate.includes(` name=${name} `));
    await by.call('CLIENT', 'KILL', 'ID', String(/^id=(\d+)/.exec(line ?? '')?.[1]));
  };
  afterEach(() => Promise.all(opened.splice(0).map(closeRedis)));

  it("reject a command at once while Redis is away, with 'fail'", async () => {
    const redis = open({ url: NO_SERVER, whenAway: 'fail' });
    await expect(redis.get('x')).rejects.toThrow("Stream isn't writeable");
  });

  it("keep a command until Redis is back, with 'wait'", async () => {
    const redis = open({ name: 'spec-wait' });
    const other = open();
    await redis.ping();
    const dropped = new Promise((resolve) => redis.once('close', resolve));
    await drop(other, 'spec-wait');
    await dropped;
    expect(redis.status).not.toBe('ready');
    expect(await redis.ping()).toBe('PONG');
  });

  it('log an outage once when it begins and once when it ends, however many attempts it takes', async () => {
    const logged: string[] = [];
    const log = {
      warn: (_: object, text: string) => logged.push(text),
      info: (_: object, text: string) => logged.push(text),
    };
    const redis = open({ url: NO_SERVER, log });
    let attempts = 0;
    redis.on('reconnecting', () => attempts++);
    await until(() => attempts >= 3);
    expect(logged).toEqual(['redis is away; reconnecting']);
    const { hostname, port } = new URL(url);
    Object.assign(redis.options, { host: hostname, port: Number(port) });
    await until(() => redis.status === 'ready');
    expect(logged).toEqual(['redis is away; reconnecting', 'redis is back']);
  });

  it('receive their channel again after the connection dropped, and know when they do not', async () => {
    const redis = open({ name: 'spec-ear' });
    const channel = `spec.${randomUUID()}`;
    const received: string[] = [];
    const subscription = subscribeTo(redis, channel, (message) => received.push(message));
    await subscription.started;
    expect(subscription.isLive()).toBe(true);
    await drop(redis, `spec-ear:${channel}`);
    await until(() => !subscription.isLive());
    expect(await redis.publish(channel, 'lost')).toBe(0);
    await until(() => subscription.isLive());
    expect(await redis.publish(channel, 'received')).toBe(1);
    await until(() => received.length > 0);
    expect(received).toEqual(['received']);
    await subscription.close();
    expect(subscription.isLive()).toBe(false);
  });
});

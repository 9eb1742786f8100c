import { workerConfig } from './config.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const NEEDED = {
  REGION: 'sg',
  REGIONAL_DATABASE_URL: 'postgresql://localhost/x',
  REDIS_URL: 'redis://localhost',
  S3_BUCKET: 'files',
  MASTER_KEY: KEY,
  MASTER_KEY_ID: 'k2',
};

describe('workerConfig', () => {
  it('talks to the real network unless told otherwise', () => {
    expect(workerConfig(NEEDED).network).toEqual({ keepAliveMs: 20_000 });
    const sandbox = { NETWORK_SOCKET_URL: 'ws://127.0.0.1:1/ws', NETWORK_ROOT_KEY: KEY };
    expect(workerConfig({ ...NEEDED, ...sandbox }).network).toEqual({
      keepAliveMs: 20_000,
      socketUrl: 'ws://127.0.0.1:1/ws',
      rootKey: Buffer.alloc(32, 1),
    });
  });

  it('never asks the network so seldom that a dead connection is noticed after more than 45 seconds', () => {
    expect(() => workerConfig({ ...NEEDED, KEEP_ALIVE_MS: '20001' })).toThrow(/KEEP_ALIVE_MS/);
  });

  it('names every variable that is wrong, without its value', () => {
    expect(() => workerConfig({ ...NEEDED, MASTER_KEY: 'c2hvcnQ=', SHARD_COUNT: '0' })).toThrow(
      /MASTER_KEY: must be 32 bytes in base64\s+SHARD_COUNT: must be between/,
    );
  });

  it('keeps earlier master keys beside the current one', () => {
    const { masterKeys } = workerConfig({ ...NEEDED, MASTER_KEYS_EARLIER: JSON.stringify({ k1: KEY }) });
    expect([masterKeys.currentId, [...masterKeys.keys.keys()]]).toEqual(['k2', ['k1', 'k2']]);
  });

  it('makes every start another worker', () => {
    const [one, two] = [1, 2].map(() => workerConfig({ ...NEEDED, WORKER_ID: 'worker' }).workerId);
    expect(one).toMatch(/^worker-[0-9a-f]{8}$/);
    expect(one).not.toBe(two);
  });
});

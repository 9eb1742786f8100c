import { workerConfig } from './config.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');
const NEEDED = {
  REGION: 'sg',
  REGIONAL_DATABASE_URL: 'postgresql://localhost/x',
  REDIS_URL: 'redis://localhost',
  S3_BUCKET: 'files',
  SETTINGS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SETTINGS_MASTER_KEY_ID: 's1',
  MASTER_KEY: KEY,
  MASTER_KEY_ID: 'k2',
};

describe('workerConfig', () => {
  it('connects to the real network unless configured otherwise', () => {
    expect(workerConfig(NEEDED).network).toEqual({ keepAliveMs: 20_000 });
    const sandbox = { NETWORK_SOCKET_URL: 'ws://127.0.0.1:1/ws', NETWORK_ROOT_KEY: KEY };
    expect(workerConfig({ ...NEEDED, ...sandbox }).network).toEqual({
      keepAliveMs: 20_000,
      socketUrl: 'ws://127.0.0.1:1/ws',
      rootKey: Buffer.alloc(32, 1),
    });
  });

  it('never queries the network so seldom that a dead connection is noticed after more than 45 seconds', () => {
    expect(() => workerConfig({ ...NEEDED, KEEP_ALIVE_MS: '20001' })).toThrow(/KEEP_ALIVE_MS/);
  });

  it('names every variable that is wrong, without its value', () => {
    expect(() => workerConfig({ ...NEEDED, MASTER_KEY: 'c2hvcnQ=', SHARD_COUNT: '0' })).toThrow(
      /MASTER_KEY: must be 32 bytes in base64\s+SHARD_COUNT: must be between/,
    );
  });

  it('keeps earlier master keys beside the current one', () => {
    const { masterKeys } = workerConfig({ ...NEEDED, MASTER_KEYS_EARLIER: JSON.stringify({ k1: OTHER_KEY }) });
    expect([masterKeys.currentId, [...masterKeys.keys.keys()]]).toEqual(['k2', ['k1', 'k2']]);
  });

  it.each([
    ['another key under the id of the current one', { MASTER_KEYS_EARLIER: { k2: OTHER_KEY } }, /names "k2", which is/],
    ['the current key under another id', { MASTER_KEYS_EARLIER: { k1: KEY } }, /"k1" and "k2" are the same key/],
    ['one key under two ids', { MASTER_KEYS_EARLIER: { a: OTHER_KEY, b: OTHER_KEY } }, /"a" and "b" are the same key/],
    ['a settings key that is doubled', { SETTINGS_MASTER_KEYS_EARLIER: { s1: OTHER_KEY } }, /names "s1", which is/],
    ['the key of sessions for settings', { SETTINGS_MASTER_KEYS_EARLIER: { s0: KEY } }, /"s0" is the master key "k2"/],
  ])('refuses %s', (_what, variables, message) => {
    const given = Object.fromEntries(Object.entries(variables).map(([name, keys]) => [name, JSON.stringify(keys)]));
    expect(() => workerConfig({ ...NEEDED, ...given })).toThrow(message);
    expect(() => workerConfig({ ...NEEDED, ...given })).not.toThrow(OTHER_KEY);
  });

  it.each([
    [{ NETWORK_SOCKET_URL: 'ws://127.0.0.1:1/ws' }, 'NETWORK_SOCKET_URL: given without NETWORK_ROOT_KEY;'],
    [{ NETWORK_ROOT_KEY: KEY }, 'NETWORK_ROOT_KEY: given without NETWORK_SOCKET_URL;'],
    [{ NETWORK_MEDIA_ORIGIN: 'https://127.0.0.1' }, 'NETWORK_MEDIA_ORIGIN: given without NETWORK_SOCKET_URL;'],
    [{ S3_SECRET_ACCESS_KEY: 'x' }, 'S3_SECRET_ACCESS_KEY: given without S3_ACCESS_KEY_ID;'],
  ])('refuses %p alone', (given, message) => {
    expect(() => workerConfig({ ...NEEDED, ...given })).toThrow(message);
  });

  it('makes every start another worker', () => {
    const [one, two] = [1, 2].map(() => workerConfig({ ...NEEDED, WORKER_ID: 'worker' }).workerId);
    expect(one).toMatch(/^worker-[0-9a-f]{8}$/);
    expect(one).not.toBe(two);
  });

  it('refuses one half of the credentials for S3, and a start without a key for settings', () => {
    expect(() => workerConfig({ ...NEEDED, S3_ACCESS_KEY_ID: 'a' })).toThrow(
      'S3_ACCESS_KEY_ID: given without S3_SECRET_ACCESS_KEY; set all of them or none',
    );
    expect(() => workerConfig({ ...NEEDED, SETTINGS_MASTER_KEY: '' })).toThrow(
      'SETTINGS_MASTER_KEY_ID: given without SETTINGS_MASTER_KEY; set all of them or none',
    );
    const none = { ...NEEDED, SETTINGS_MASTER_KEY: '', SETTINGS_MASTER_KEY_ID: '' };
    expect(() => workerConfig(none)).toThrow('SETTINGS_MASTER_KEY: required');
  });
});

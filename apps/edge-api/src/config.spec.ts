import { DEFAULT_RATE_LIMITS } from './access/rate-limits.js';
import { edgeConfig } from './config.js';

const needed = {
  REGION: 'sg',
  REGIONAL_DATABASE_URL: 'postgresql://localhost/sg',
  REDIS_URL: 'redis://localhost:6379',
  S3_BUCKET: 'files',
  SETTINGS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SETTINGS_MASTER_KEY_ID: 's1',
};

describe('edgeConfig', () => {
  it('needs a region and its stores, and has defaults for everything else', () => {
    expect(edgeConfig(needed)).toMatchObject({
      listen: { port: 3000, host: '0.0.0.0' },
      region: 'sg',
      regionHosts: {},
      allowPrivateWebhooks: false,
      rateLimits: DEFAULT_RATE_LIMITS,
    });
    expect(() => edgeConfig({})).toThrow(/REGION: .*\n {2}REGIONAL_DATABASE_URL: required\n {2}REDIS_URL: required/);
  });

  it('refuses a region that does not exist', () => {
    expect(() => edgeConfig({ ...needed, REGION: 'mars' })).toThrow('REGION: Invalid option: expected one of');
  });

  it('reads hosts of regions as hosts or origins', () => {
    const hosts = { sg: 'sg.example.com', eu: 'http://127.0.0.1:4000/' };
    expect(edgeConfig({ ...needed, REGION_HOSTS: JSON.stringify(hosts) }).regionHosts).toEqual({
      sg: 'https://sg.example.com',
      eu: 'http://127.0.0.1:4000',
    });
    expect(() => edgeConfig({ ...needed, REGION_HOSTS: '{"mars":"x"}' })).toThrow(/REGION_HOSTS/);
  });

  it('reads rate limits as requests per seconds, or off', () => {
    const { rateLimits } = edgeConfig({ ...needed, RATE_SENDS: '100/60', RATE_OTHER: 'off' });
    expect(rateLimits).toMatchObject({ sends: { points: 100, windowS: 60 }, other: 'off' });
    for (const bad of ['100', '0/60', '1/0', '-1/5', 'on']) {
      expect(() => edgeConfig({ ...needed, RATE_SENDS: bad })).toThrow(
        'RATE_SENDS: must be <requests>/<seconds> or off',
      );
    }
  });

  it('refuses one half of the credentials for S3, and a start without a key for settings', () => {
    expect(() => edgeConfig({ ...needed, S3_ACCESS_KEY_ID: 'a' })).toThrow(
      'S3_ACCESS_KEY_ID: given without S3_SECRET_ACCESS_KEY; set all of them or none',
    );
    expect(() => edgeConfig({ ...needed, SETTINGS_MASTER_KEY: '' })).toThrow(
      'SETTINGS_MASTER_KEY_ID: given without SETTINGS_MASTER_KEY; set all of them or none',
    );
    const none = { ...needed, SETTINGS_MASTER_KEY: '', SETTINGS_MASTER_KEY_ID: '' };
    expect(() => edgeConfig(none)).toThrow('SETTINGS_MASTER_KEY: required');
  });
});

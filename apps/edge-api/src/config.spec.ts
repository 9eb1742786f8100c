import { DEFAULT_RATE_LIMITS } from './access/rate-limits.js';
import { edgeConfig } from './config.js';

const needed = {
  REGION: 'sg',
  REGIONAL_DATABASE_URL: 'postgresql://localhost/sg',
  REDIS_URL: 'redis://localhost:6379',
  S3_BUCKET: 'files',
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
});

import { ConfigError } from '@dormouse/bootstrap';
import { controlPlaneConfig } from './config.js';

const region = { databaseUrl: 'postgresql://localhost/sg', redisUrl: 'redis://localhost', shardCount: 8 };
const enough = {
  GLOBAL_DATABASE_URL: 'postgresql://localhost/global',
  REGIONS: JSON.stringify({ eu: region, sg: region }),
};

describe('controlPlaneConfig', () => {
  it('keeps the regions in the order they were written', () => {
    expect([...controlPlaneConfig(enough).regions]).toEqual([
      ['eu', region],
      ['sg', region],
    ]);
  });

  it.each([
    ['{}', /REGIONS: must name a region/],
    ['{"mars":{}}', /REGIONS: /],
    ['{"sg":{}}', /REGIONS: sg\.databaseUrl/],
    ['nonsense', /REGIONS: must be JSON/],
  ])('refuses REGIONS=%s', (regions, message) => {
    expect(() => controlPlaneConfig({ ...enough, REGIONS: regions })).toThrow(ConfigError);
    expect(() => controlPlaneConfig({ ...enough, REGIONS: regions })).toThrow(message);
  });
});

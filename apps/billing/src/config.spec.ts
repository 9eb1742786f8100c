import { billingConfig } from './config.js';

const enough = {
  GLOBAL_DATABASE_URL: 'postgresql://localhost/global',
  REDIS_URL: 'redis://localhost',
  REGIONS: JSON.stringify({ sg: { databaseUrl: 'postgresql://localhost/sg', redisUrl: 'redis://localhost' } }),
  BILLING_SECRET: 'a secret of at least thirty-two characters',
};

describe('billingConfig', () => {
  it('has errors link to the documentation that the control plane serves, unless that is elsewhere', () => {
    const docsUrl = (more: object) => billingConfig({ ...enough, ...more }).site.docsUrl;
    expect(docsUrl({ PUBLIC_URL: 'https://api.example.com/' })).toBe('https://api.example.com/docs');
    expect(docsUrl({ DOCS_URL: 'https://docs.example.com/v1/' })).toBe('https://docs.example.com/v1');
  });

  it('refuses one database for two regions', () => {
    const entry = { databaseUrl: 'postgresql://localhost/sg', redisUrl: 'redis://localhost' };
    expect(() => billingConfig({ ...enough, REGIONS: JSON.stringify({ sg: entry, eu: entry }) })).toThrow(
      'REGIONS: sg and eu have the same database',
    );
  });
});

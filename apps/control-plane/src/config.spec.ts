import { ConfigError } from '@dormouse/bootstrap';
import { controlPlaneConfig } from './config.js';

const region = { databaseUrl: 'postgresql://localhost/sg', redisUrl: 'redis://localhost' };
const eu = { databaseUrl: 'postgresql://localhost/eu', redisUrl: 'redis://localhost/1' };
const enough = {
  GLOBAL_DATABASE_URL: 'postgresql://localhost/global',
  REGIONS: JSON.stringify({ eu, sg: region }),
  SETTINGS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SETTINGS_MASTER_KEY_ID: 's1',
  REDIS_URL: 'redis://localhost',
};

describe('controlPlaneConfig', () => {
  it('keeps the regions in the order they were written', () => {
    expect([...controlPlaneConfig(enough).regions]).toEqual([
      ['eu', eu],
      ['sg', region],
    ]);
  });

  it('reads where a region stores its files and how long links to them work', () => {
    const storage = { bucket: 'files', endpoint: 'http://localhost:1', accessKeyId: 'a', secretAccessKey: 'b' };
    const { regions } = controlPlaneConfig({ ...enough, REGIONS: JSON.stringify({ sg: { ...region, storage } }) });
    expect(regions.get('sg')?.storage).toEqual({
      linkTtlS: 86_400,
      place: {
        bucket: 'files',
        endpoint: 'http://localhost:1',
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      },
    });
  });

  it.each([
    ['{}', /REGIONS: must name a region/],
    ['{"mars":{}}', /REGIONS: /],
    ['{"sg":{}}', /REGIONS: sg\.databaseUrl/],
    [
      JSON.stringify({ sg: { ...region, storage: { bucket: 'b', accessKeyId: 'a' } } }),
      /REGIONS: sg\.storage has one of accessKeyId and secretAccessKey without the other/,
    ],
    [
      JSON.stringify({ sg: region, eu: { ...eu, databaseUrl: region.databaseUrl } }),
      /REGIONS: sg and eu have the same database; every region needs its own/,
    ],
    [
      JSON.stringify({ sg: region, eu: { ...eu, redisUrl: 'redis://localhost:6379/0' } }),
      /REGIONS: sg and eu have the same Redis; every region needs its own/,
    ],
    ['nonsense', /REGIONS: must be JSON/],
  ])('refuses REGIONS=%s', (regions, message) => {
    expect(() => controlPlaneConfig({ ...enough, REGIONS: regions })).toThrow(ConfigError);
    expect(() => controlPlaneConfig({ ...enough, REGIONS: regions })).toThrow(message);
  });

  it('has errors link to the documentation that it serves itself, unless that is elsewhere', () => {
    const docsUrl = (more: object) => controlPlaneConfig({ ...enough, ...more }).site.docsUrl;
    expect(docsUrl({ PUBLIC_URL: 'https://api.example.com/' })).toBe('https://api.example.com/docs');
    expect(docsUrl({})).toBe('/docs');
    const elsewhere = { PUBLIC_URL: 'https://api.example.com', DOCS_URL: 'https://docs.example.com/v1/' };
    expect(docsUrl(elsewhere)).toBe('https://docs.example.com/v1');
  });

  it('reads operators by name with the hash of their key; there are none by default', () => {
    const hash = 'ab'.repeat(32);
    const named = { ...enough, OPERATORS: JSON.stringify({ ada: hash }) };
    expect([...controlPlaneConfig(named).operators]).toEqual([['ada', Buffer.from(hash, 'hex')]]);
    expect(controlPlaneConfig(enough).operators.size).toBe(0);
  });

  it('takes an SMTP server and the address of mail together, or neither', () => {
    const both = { SMTP_URL: 'smtps://user:secret@mail.example.com', MAIL_FROM: 'no-reply@example.com' };
    expect(controlPlaneConfig({ ...enough, ...both }).mail).toEqual({
      smtpUrl: both.SMTP_URL,
      from: { address: 'no-reply@example.com', name: 'Dormouse' },
    });
    expect(controlPlaneConfig(enough).mail.smtpUrl).toBeUndefined();
    for (const name of ['SMTP_URL', 'MAIL_FROM'] as const) {
      expect(() => controlPlaneConfig({ ...enough, [name]: both[name] })).toThrow(/set all of them or none/);
    }
    expect(() => controlPlaneConfig({ ...enough, ...both, SMTP_URL: 'https://user:secret@mail' })).toThrow(
      /SMTP_URL: must be a URL of smtp:\/\/ or smtps:\/\//,
    );
    expect(() => controlPlaneConfig({ ...enough, ...both, MAIL_FROM: 'a@example.com\nBcc: b@example.com' })).toThrow(
      /MAIL_FROM: /,
    );
    expect(() => controlPlaneConfig({ ...enough, ...both, MAIL_FROM_NAME: 'A\nB' })).toThrow(/MAIL_FROM_NAME: /);
  });

  it('refuses an operator whose key is not a hash, with an error that does not contain the key', () => {
    const wrong = { ...enough, OPERATORS: JSON.stringify({ ada: 'dmo_the-key-itself' }) };
    expect(() => controlPlaneConfig(wrong)).toThrow(/OPERATORS: ada must be a SHA-256 in hex/);
    expect(() => controlPlaneConfig(wrong)).not.toThrow(/dmo_/);
  });
});

import { ConfigError } from '@dormouse/bootstrap';
import { dispatcherConfig } from './config.js';

const enough = {
  REGION: 'sg',
  REGIONAL_DATABASE_URL: 'postgresql://localhost/sg',
  REDIS_URL: 'redis://localhost',
  S3_BUCKET: 'files',
  SETTINGS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SETTINGS_MASTER_KEY_ID: 's1',
};

describe('dispatcherConfig', () => {
  it('keeps webhooks out of private networks unless a switch allows them', () => {
    expect(dispatcherConfig(enough).delivery.allowPrivateWebhooks).toBe(false);
    expect(dispatcherConfig({ ...enough, ALLOW_PRIVATE_WEBHOOKS: 'true' }).delivery.allowPrivateWebhooks).toBe(true);
  });

  it('names every variable that is missing', () => {
    expect(() => dispatcherConfig({})).toThrow(ConfigError);
    expect(() => dispatcherConfig({})).toThrow(
      /REGION: .*\n.*REGIONAL_DATABASE_URL: .*\n.*REDIS_URL: .*\n.*S3_BUCKET: /,
    );
  });

  it('refuses one half of the credentials for S3, and a start without a key for settings', () => {
    expect(() => dispatcherConfig({ ...enough, S3_ACCESS_KEY_ID: 'a' })).toThrow(
      'S3_ACCESS_KEY_ID: given without S3_SECRET_ACCESS_KEY; set all of them or none',
    );
    expect(() => dispatcherConfig({ ...enough, SETTINGS_MASTER_KEY: '' })).toThrow(
      'SETTINGS_MASTER_KEY_ID: given without SETTINGS_MASTER_KEY; set all of them or none',
    );
    const none = { ...enough, SETTINGS_MASTER_KEY: '', SETTINGS_MASTER_KEY_ID: '' };
    expect(() => dispatcherConfig(none)).toThrow('SETTINGS_MASTER_KEY: required');
  });
});

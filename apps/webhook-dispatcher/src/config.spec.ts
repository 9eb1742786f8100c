import { ConfigError } from '@dormouse/bootstrap';
import { dispatcherConfig } from './config.js';

const enough = {
  REGION: 'sg',
  REGIONAL_DATABASE_URL: 'postgresql://localhost/sg',
  REDIS_URL: 'redis://localhost',
  S3_BUCKET: 'files',
};

describe('dispatcherConfig', () => {
  it('keeps webhooks out of private networks unless told otherwise', () => {
    expect(dispatcherConfig(enough).delivery.allowPrivateWebhooks).toBe(false);
    expect(dispatcherConfig({ ...enough, ALLOW_PRIVATE_WEBHOOKS: 'true' }).delivery.allowPrivateWebhooks).toBe(true);
  });

  it('names every variable that is missing', () => {
    expect(() => dispatcherConfig({})).toThrow(ConfigError);
    expect(() => dispatcherConfig({})).toThrow(
      /REGION: .*\n.*REGIONAL_DATABASE_URL: .*\n.*REDIS_URL: .*\n.*S3_BUCKET: /,
    );
  });
});

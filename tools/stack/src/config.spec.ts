import { readEnvironment, readPreparationEnvironment } from './config.js';

describe('the environment of the launcher', () => {
  it('treats empty switches as not set', () => {
    expect(readEnvironment({ REDIS_URL: '', S3_ENDPOINT: '' })).toMatchObject({
      redisUrl: undefined,
      objects: undefined,
    });
  });

  it('takes an S3 service only whole', () => {
    const whole = { S3_ENDPOINT: 'http://s3', S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'k', S3_SECRET_ACCESS_KEY: 's' };
    expect(readEnvironment(whole).objects).toEqual({
      endpoint: 'http://s3',
      bucket: 'b',
      accessKeyId: 'k',
      secretAccessKey: 's',
    });
    expect(() => readEnvironment({ S3_ENDPOINT: 'http://s3', S3_BUCKET: 'b' })).toThrow(/together/);
  });

  it('takes Stripe and mail only whole', () => {
    expect(readEnvironment({ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }).stripe).toEqual({
      secretKey: 'sk_test_1',
      webhookSecret: 'whsec_1',
    });
    expect(readEnvironment({ SMTP_URL: 'smtp://m', MAIL_FROM: 'a@b.c' }).smtp).toEqual({
      url: 'smtp://m',
      from: 'a@b.c',
    });
    expect(readEnvironment({})).toMatchObject({ stripe: undefined, smtp: undefined });
    expect(() => readEnvironment({ STRIPE_SECRET_KEY: 'sk_test_1' })).toThrow(
      'Set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET together, or neither.',
    );
    expect(() => readEnvironment({ MAIL_FROM: 'a@b.c' })).toThrow('Set SMTP_URL and MAIL_FROM together, or neither.');
  });
});

describe('the environment of the preparation', () => {
  const given = {
    GLOBAL_DATABASE_URL: 'postgresql://g',
    REGIONAL_DATABASE_URL: 'postgresql://r',
    ACCOUNT_KEY: 'dmk_of-the-first-account',
  };
  const read = (passwords?: string) =>
    readPreparationEnvironment({ ...given, DATABASE_PASSWORDS: passwords }).DATABASE_PASSWORDS;

  it('takes passwords of those apps that it names', () => {
    expect(read()).toEqual({});
    expect(read('{"edge-api":"sixteen-letters!"}')).toEqual({ 'edge-api': 'sixteen-letters!' });
  });

  it.each([
    'edge-api',
    '{"edge":"sixteen-letters!"}',
    '{"edge-api":"too-short"}',
    '{"edge-api":"with a space in it!"}',
  ])('refuses %s, names the switch, and does not show the password', (text) => {
    expect(() => read(text)).toThrow('DATABASE_PASSWORDS');
    expect(() => read(text)).not.toThrow(/sixteen-letters|too-short|with a space/);
  });
});

import { readEnvironment } from './config.js';

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
});

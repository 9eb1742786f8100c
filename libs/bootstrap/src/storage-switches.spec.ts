import { ConfigError } from './read-config.js';
import { storageFrom } from './storage-switches.js';

describe('the switches of the object storage', () => {
  it('leave out what is not given', () => {
    expect(storageFrom({ S3_BUCKET: 'b', S3_ENDPOINT: undefined })).toEqual({ bucket: 'b' });
  });

  it('make a whole place of all of them', () => {
    const all = {
      S3_BUCKET: 'b',
      S3_ENDPOINT: 'http://s3',
      S3_PUBLIC_ENDPOINT: 'https://files',
      S3_REGION: 'r',
      S3_ACCESS_KEY_ID: 'k',
      S3_SECRET_ACCESS_KEY: 's',
    };
    expect(storageFrom(all)).toEqual({
      bucket: 'b',
      endpoint: 'http://s3',
      publicEndpoint: 'https://files',
      region: 'r',
      credentials: { accessKeyId: 'k', secretAccessKey: 's' },
    });
  });

  it('refuse one half of the key', () => {
    expect(() => storageFrom({ S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'k' })).toThrow(ConfigError);
  });
});

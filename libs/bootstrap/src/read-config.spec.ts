import { z } from 'zod';
import { ConfigError, readConfig, variable } from './read-config.js';

const schema = z
  .object({
    PORT: variable.port().default(3000),
    REDIS_URL: variable.url('redis', 'rediss'),
    ALLOW: variable.flag().default(false),
    HOSTS: variable.json(z.record(z.string(), z.string())).default({}),
  })
  .transform((env) => ({ listen: { port: env.PORT }, redisUrl: env.REDIS_URL, allow: env.ALLOW, hosts: env.HOSTS }));

describe('readConfig', () => {
  it('gives the shape the schema makes of the variables, defaults included', () => {
    const environment = { REDIS_URL: 'redis://localhost:6379', ALLOW: '1', PORT: '', HOSTS: '{"sg":"a"}', OTHER: 'x' };
    expect(readConfig(schema, environment)).toEqual({
      listen: { port: 3000 },
      redisUrl: 'redis://localhost:6379',
      allow: true,
      hosts: { sg: 'a' },
    });
  });

  it('names every variable that is wrong, without repeating its value', () => {
    const environment = { PORT: '70000', ALLOW: 'yes', HOSTS: '{"sg":' };
    expect(() => readConfig(schema, environment)).toThrow(ConfigError);
    try {
      readConfig(schema, environment);
    } catch (error) {
      expect((error as ConfigError).problems).toEqual([
        'PORT: must be between 0 and 65535',
        'REDIS_URL: required',
        'ALLOW: must be true or false',
        'HOSTS: must be JSON',
      ]);
    }
    expect(() => readConfig(schema, { REDIS_URL: 'http://user:secret@host' })).toThrow(
      'REDIS_URL: must be a URL of redis:// or rediss://',
    );
    expect(() => readConfig(schema, { REDIS_URL: 'http://user:secret@host' })).not.toThrow('secret');
  });

  it('names where within a JSON variable the fault is', () => {
    expect(() => readConfig(schema, { REDIS_URL: 'redis://h', HOSTS: '{"sg":1}' })).toThrow(/HOSTS: sg /);
  });
});

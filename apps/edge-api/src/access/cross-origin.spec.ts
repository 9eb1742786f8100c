import { fastify } from 'fastify';
import { allowOrigins, type AllowedOrigins } from './cross-origin.js';

const PAGE = 'https://app.example.com';

async function answers(allowed: AllowedOrigins) {
  const app = fastify();
  allowOrigins(app, allowed);
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.code(401);
    done(new Error('no token'));
  });
  await app.ready();
  const ask = async (method: 'OPTIONS' | 'GET', headers: Record<string, string>) => {
    const { statusCode: status, headers: got, body } = await app.inject({ method, url: '/messages/text', headers });
    return { status, headers: got, body };
  };
  const preflight = (origin: string) =>
    ask('OPTIONS', {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    });
  return { ask, preflight };
}

describe('requests from pages of other origins', () => {
  it('a preflight is answered before a token is looked for, with all that clients send', async () => {
    const { preflight } = await answers('*');
    const { status, headers, body } = await preflight(PAGE);
    expect([status, body]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    });
    for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key']) {
      expect(headers['access-control-allow-headers']).toContain(name);
    }
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('an error can be read, and so can its request id and when to come back', async () => {
    const { ask } = await answers('*');
    const { status, headers } = await ask('GET', { origin: PAGE });
    expect(status).toBe(401);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toMatch(/X-Request-Id, Retry-After/);
  });

  it('OPTIONS that is no preflight goes on to be answered like any other method', async () => {
    const { ask } = await answers('*');
    expect((await ask('OPTIONS', { origin: PAGE })).status).toBe(401);
    expect((await ask('OPTIONS', { 'access-control-request-method': 'POST' })).status).toBe(401);
    expect((await ask('GET', { origin: PAGE, 'access-control-request-method': 'POST' })).status).toBe(401);
  });

  it('only listed origins are allowed where there is a list, and answers vary by origin for caches', async () => {
    const { ask, preflight } = await answers([PAGE]);
    expect((await preflight(PAGE)).headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
    const other = await preflight('https://other.example.com');
    expect([other.status, other.headers['access-control-allow-origin'], other.headers.vary]).toEqual([
      401,
      undefined,
      'Origin',
    ]);
    expect((await ask('GET', {})).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('there are no headers where no origin is allowed', async () => {
    const { preflight } = await answers([]);
    const { status, headers } = await preflight(PAGE);
    expect([status, Object.keys(headers).filter((name) => name.startsWith('access-control'))]).toEqual([401, []]);
    expect(headers).not.toHaveProperty('vary');
  });
});

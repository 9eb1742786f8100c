import { ByteBudget } from '@dormouse/media-files';
import { DEFAULT_MEDIA_LIMITS, GatewayError } from '@dormouse/gateway-contract';
import { fastify } from 'fastify';
import { readBodies } from './bodies.js';

const KIB = 1024;

describe('the memory that bodies share', () => {
  const open = async () => {
    const bodyMemory = new ByteBudget({ totalBytes: 100 * KIB, refusal: 'too many large bodies are arriving at once' });
    const app = fastify();
    app.decorateRequest('channel', null);
    app.setErrorHandler((error, _request, reply) => {
      const { status, details, retryAfterS } = error instanceof GatewayError ? error : new GatewayError(502);
      return reply.code(status).send({ details, retryAfterS });
    });
    const limits = { maxJsonBytes: 1024 * KIB, media: { maxJsonBytes: 1024 * KIB, limits: DEFAULT_MEDIA_LIMITS } };
    readBodies(app, { ...limits, bodyMemory });
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const arrived: (() => void)[] = [];
    app.post('/slow', async () => {
      arrived.splice(0).forEach((notify) => notify());
      await finished;
      return {};
    });
    app.post('/fast', () => ({}));
    const post = (url: string, bytes: number) =>
      app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ body: 'x'.repeat(bytes) }),
      });
    await app.ready();
    return { bodyMemory, post, finish, arrival: () => new Promise<void>((resolve) => arrived.push(resolve)) };
  };

  it('is held until the answer, given back with it, and refused with 503 and when to come back', async () => {
    const { bodyMemory, post, finish, arrival } = await open();
    const begun = arrival();
    const slow = post('/slow', 150 * KIB);
    await begun;
    expect(bodyMemory.heldBytes).toBeGreaterThan(80 * KIB);
    const refused = await post('/fast', 150 * KIB);
    expect([refused.statusCode, refused.json()]).toEqual([
      503,
      { details: 'too many large bodies are arriving at once: try again later', retryAfterS: 5 },
    ]);
    finish();
    expect((await slow).statusCode).toBe(200);
    expect((await post('/fast', 150 * KIB)).statusCode).toBe(200);
    expect(bodyMemory.heldBytes).toBe(0);
  });

  it('is never refused to a small body', async () => {
    const { bodyMemory, post } = await open();
    bodyMemory.open('others').hold(100 * KIB);
    expect((await post('/fast', 60 * KIB)).statusCode).toBe(200);
    expect((await post('/fast', 70 * KIB)).statusCode).toBe(503);
  });
});

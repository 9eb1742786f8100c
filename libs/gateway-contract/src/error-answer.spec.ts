import { errorAnswer, toGatewayError } from './error-answer.js';
import { GatewayError } from './errors.js';

/** As Nest's exceptions are. */
class FrameworkError extends Error {
  constructor(private readonly status: number) {
    super('secret text');
  }

  getStatus(): number {
    return this.status;
  }
}

describe('toGatewayError', () => {
  it('leaves errors of the table as they are', () => {
    const error = new GatewayError(403, { details: 'x' });
    expect(toGatewayError(error)).toBe(error);
  });

  it.each([
    [new FrameworkError(413), 413],
    [new FrameworkError(415), 400],
    [new FrameworkError(404), 400],
    [new FrameworkError(500), 502],
    [Object.assign(new Error('secret text'), { statusCode: 414 }), 400],
    [Object.assign(new Error('secret text'), { statusCode: 500 }), 502],
    [new TypeError('secret text'), 502],
    [undefined, 502],
    ['secret text', 502],
  ] as const)('gives %p a status of the table, shows none of its text and keeps it as the cause', (thrown, status) => {
    const error = toGatewayError(thrown);
    expect(error.status).toBe(status);
    expect(`${error.message} ${error.details ?? ''}`).not.toContain('secret');
    expect(error.cause).toBe(thrown);
  });

  it('uses the given error for a framework status that is listed', () => {
    const known = { 404: { status: 404, details: 'there is no such endpoint' } } as const;
    expect(toGatewayError(new FrameworkError(404), known)).toMatchObject({ status: 404, details: known[404].details });
    expect(toGatewayError(new FrameworkError(405), known).status).toBe(400);
    const failed = { 502: { status: 502, message: 'not carried out' } } as const;
    expect(toGatewayError(new Error('secret text'), failed)).toMatchObject({ status: 502, message: 'not carried out' });
  });
});

describe('errorAnswer', () => {
  const site = { docsUrl: 'https://docs.test', supportAddress: 'help@test' };

  it('sends Retry-After in whole seconds, at least one', () => {
    for (const [retryAfterS, expected] of [
      [0.2, '1'],
      [2.1, '3'],
      [5, '5'],
    ] as const) {
      expect(errorAnswer(new GatewayError(503, { retryAfterS }), site).headers['retry-after']).toBe(expected);
    }
    expect(errorAnswer(new GatewayError(502), site).headers).toEqual({
      'content-type': 'application/json; charset=utf-8',
    });
  });

  it('has the envelope as its body', () => {
    const { status, body } = errorAnswer(new GatewayError(404, { message: 'chat not found' }), site);
    expect([status, JSON.parse(body)]).toEqual([
      404,
      {
        error: {
          code: 404,
          message: 'chat not found',
          href: 'https://docs.test/errors#not-found',
          support: 'help@test',
        },
      },
    ]);
  });
});

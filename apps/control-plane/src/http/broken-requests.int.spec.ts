import { RunningControlPlane } from '../test-control-plane.js';

jest.setTimeout(60_000);

describe('a request that reaches no route of the management API', () => {
  let plane: RunningControlPlane;
  let key: string;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    ({ accountKey: key } = await plane.newAccount());
  });
  afterAll(() => plane.close());

  it.each([
    ['a lone percent sign', '/api/v1/channels/%', 400, /^path: /],
    ['a percent-encoded byte that is not UTF-8', '/api/v1/channels/%ff', 400, /^path: /],
    ['an id that is too long', `/api/v1/channels/${'x'.repeat(2_000)}`, 404, /longer than any id/],
    ['an unknown path', '/api/v1/nothing', 404, /no such endpoint/],
  ])('gets the envelope and a request id: %s', async (_what, path, status, details) => {
    const answer = await plane.call(key, 'GET', path);
    expect([answer.status, answer.body]).toEqual([
      status,
      {
        error: expect.objectContaining({ code: status, details: expect.stringMatching(details) as string }) as unknown,
      },
    ]);
    const requestId = String(answer.headers['x-request-id']);
    expect(plane.logged.some((line) => line.includes(requestId))).toBe(true);
  });

  it('is 400 that names an invalid content type; without a body the content type is ignored', async () => {
    for (const type of ['garbage', '', 'application/json, text/html']) {
      const headers = { 'content-type': type };
      const refused = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'x' }, headers });
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { error: { details: 'content-type: must be one media type, such as application/json' } },
      ]);
      expect((await plane.call(key, 'GET', '/api/v1/channels', { headers })).status).toBe(200);
    }
  });
});

import { MANAGEMENT_PREFIX, OPERATIONS, type Operation } from '@dormouse/management-contract';
import { OPERATOR_KEY, RunningControlPlane, type Method } from '../test-control-plane.js';
import { signedIn, type SpecBrowser } from '../users/test-browser.js';

jest.setTimeout(60_000);

/** Each parameter of each path. */
const parameters = Object.entries<Operation>(OPERATIONS).flatMap(([name, operation]) =>
  [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => [name, parameter, operation] as const),
);

describe('an id that holds a control character', () => {
  let plane: RunningControlPlane;
  let key: string;
  let channelId: string;
  let browser: SpecBrowser;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    ({ accountKey: key } = await plane.newAccount());
    const { body } = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    ({ id: channelId } = body['channel'] as { id: string });
    browser = await signedIn(plane, 'ada@example.com');
  });
  afterAll(() => plane.close());

  it.each(parameters)('%s answers not found (%s)', async (_name, parameter, operation) => {
    for (const bad of ['a%00b', '%00', 'a%1Fb', '%7F']) {
      const valid: Record<string, string> = { id: channelId, region: 'sg', shard: '0', [parameter]: bad };
      const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => valid[name] ?? 'unknown');
      const method = operation.method.toUpperCase() as Method;
      const as = operation.access.for === 'operators' ? OPERATOR_KEY : key;
      const { status, body } = await (operation.access.for === 'users'
        ? browser.call(method, path, {})
        : plane.call(as, method, MANAGEMENT_PREFIX + path, { body: {} }));
      // A body or a query is validated before the path.
      expect([operation.body || operation.query ? [400, 404] : [404]].flat()).toContain(status);
      expect(body).toHaveProperty('error.code', status);
    }
  });

  it('is refused in bodies and queries with 400 that names the field', async () => {
    const refused = async (as: string, method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => {
      const answer = await plane.call(as, method, `/api/v1${path}`, body === undefined ? {} : { body });
      return [answer.status, (answer.body['error'] as { details?: string } | undefined)?.details];
    };
    for (const bad of ['\u0000', '\u001b', '\ud800']) {
      const plain = 'must not contain control characters or unpaired surrogates';
      expect(await refused(key, 'POST', '/channels', { name: `a${bad}b` })).toEqual([400, `name: ${plain}`]);
      expect(await refused(OPERATOR_KEY, 'PUT', '/fleet/sg/shards/0/placement', { worker: `a${bad}b` })).toEqual([
        400,
        `worker: ${plain}`,
      ]);
    }
    expect(await refused(OPERATOR_KEY, 'GET', '/fleet/sg/channels?state=open&after=0.a%00b')).toEqual([
      400,
      'after: must not contain control characters or unpaired surrogates',
    ]);
    expect(
      await refused(key, 'POST', `/channels/${channelId}/webhooks/x/replay`, { from: 9_007_199_254_740_991 }),
    ).toEqual([400, 'from: must be epoch seconds']);
  });
});

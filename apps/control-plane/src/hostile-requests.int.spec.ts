import { isErrorStatus } from '@dormouse/gateway-contract';
import { managementOpenApi } from '@dormouse/management-contract';
import { hostileRequests, operationsOf, type FuzzedOperation } from '@dormouse/stack/test-hostile-requests';
import fc from 'fast-check';
import { OPERATOR_KEY, RunningControlPlane } from './test-control-plane.js';

jest.setTimeout(120_000);

/** By hand, for longer: `FUZZ_RUNS=2000 FUZZ_SEED=7`. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 30);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_129);

/** These need a worker and are 503 without one, so they are sent for channels that do not exist. */
const NEEDS_WORKER = /^(DELETE .*channels\/\{id\}|GET .*channels\/\{id\}\/export|POST .*fleet.*\/(sleep|wake))$/;

describe('a hostile request', () => {
  let plane: RunningControlPlane;
  let key: string;
  let channelId: string;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    ({ accountKey: key } = await plane.newAccount());
    const { body } = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    ({ id: channelId } = body['channel'] as { id: string });
  });
  afterAll(() => plane.close());

  const plausible = (route: string): Record<string, unknown> => ({
    ...(NEEDS_WORKER.test(route) ? {} : { id: channelId }),
    region: 'sg',
    shard: '0',
    worker: 'w',
    name: 'Shop',
    state: 'open',
    from: 1_790_000_000,
    sequences: [1],
    old_valid_for_s: 0,
    idle_after_s: 60,
  });

  it.each(
    operationsOf(managementOpenApi()).map((operation): [string, FuzzedOperation] => [operation.route, operation]),
  )('to %s is answered, or refused with the envelope, and never ends in a 5xx', async (route, operation) => {
    const as = route.includes('/fleet') ? OPERATOR_KEY : key;
    await fc.assert(
      fc.asyncProperty(hostileRequests(operation, plausible(route)), async ({ method, path, headers, body: given }) => {
        const { status, body } = await plane.call(as, method as 'GET', path, {
          headers,
          ...(given === undefined || given === '' ? {} : { body: given }),
        });
        if (status >= 200 && status < 300) return;
        expect([status < 500, isErrorStatus(status), body]).toEqual([true, true, body]);
        expect(body).toHaveProperty('error.code', status);
      }),
      { seed, numRuns, endOnFailure: true },
    );
  });
});

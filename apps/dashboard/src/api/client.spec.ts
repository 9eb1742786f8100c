import {
  MANAGEMENT_PREFIX,
  OPERATIONS,
  CODE_REQUIRED as CODE_REQUIRED_OF_CONTRACT,
  PASSWORD_REQUIRED as OF_CONTRACT,
  type OperationName,
} from '@dormouse/management-contract';
import { ApiAway, ApiFailure, CODE_REQUIRED, PASSWORD_REQUIRED } from './api-failure.js';
import { ApiClient } from './client.js';
import type { HttpMethod } from './operation-types.js';

const addresses = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, { method, path }]) => [name, [method, MANAGEMENT_PREFIX + path] as const]),
) as Record<OperationName, readonly [HttpMethod, string]>;

/** A client whose requests are answered by `answer`, and what it sent. */
function clientOf(answer: () => Response | Error) {
  const sent: { url: string; init: RequestInit }[] = [];
  const seen: (boolean | 'signed out')[] = [];
  const client = new ApiClient({
    addresses,
    fetch: async (url, init = {}) => {
      sent.push({ url: String(url as string), init });
      const answered = answer();
      if (answered instanceof Error) throw answered;
      return answered;
    },
    onReachable: (isReachable) => void seen.push(isReachable),
    onSignedOut: () => void seen.push('signed out'),
  });
  return { client, sent, seen };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

describe('ApiClient', () => {
  it('fills the path, leaves out what a query does not have, and names the account', async () => {
    const { client, sent } = clientOf(() => json({}));
    client.account = 'a1';
    await client.request('listDeliveries', { path: { id: 'ABC/1', webhook: '2' }, query: { count: 5 } });
    expect(sent[0]?.url).toBe('/api/v1/channels/ABC%2F1/webhooks/2/deliveries?count=5');
    expect(sent[0]?.init).toMatchObject({ method: 'GET', headers: { 'x-account': 'a1' }, credentials: 'same-origin' });
    expect(client.streamAddress('listEvents', { path: { id: 'X' } })).toBe('/api/v1/channels/X/events?account=a1');
  });

  it('answers undefined for 204', async () => {
    const { client } = clientOf(() => new Response(null, { status: 204 }));
    await expect(client.request('leaveAccount', {})).resolves.toBeUndefined();
  });

  it('fails with the sentence of the envelope, its field, its time to wait and its request', async () => {
    const error = {
      code: 429,
      message: 'rate limit',
      details: 'name: too many',
      href: 'https://docs.test/errors#rate-limit',
    };
    const { client } = clientOf(() => json({ error }, 429, { 'retry-after': '7', 'x-request-id': 'r1' }));
    const failure = await client.request('getAccount', {}).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(ApiFailure);
    expect(failure).toMatchObject({ status: 429, message: 'name: too many', field: undefined });
    expect((failure as ApiFailure).parts).toMatchObject({ retryAfterS: 7, requestId: 'r1', href: error.href });
    expect(new ApiFailure(400, { message: 'bad', details: 'name.first: must be text' })).toMatchObject({
      field: 'name',
      sentence: 'must be text',
    });
  });

  it('reports the end of the session, and the API as away when nothing or a proxy answers', async () => {
    const ended = clientOf(() => json({ error: { message: 'not signed in' } }, 401));
    await expect(ended.client.request('getAccount', {})).rejects.toBeInstanceOf(ApiFailure);
    expect(ended.seen).toEqual([true, 'signed out']);
    await expect(ended.client.request('getSession', {})).rejects.toBeInstanceOf(ApiFailure);
    expect(ended.seen).toEqual([true, 'signed out', true]);

    const dead = clientOf(() => new TypeError('fetch failed'));
    await expect(dead.client.request('getAccount', {})).rejects.toBeInstanceOf(ApiAway);
    expect(dead.seen).toEqual([false]);

    const proxied = clientOf(() => new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } }));
    await expect(proxied.client.request('getAccount', {})).rejects.toBeInstanceOf(ApiAway);
    expect(proxied.seen).toEqual([true, false]);
  });

  it('knows the failure that only means: enter the password again', () => {
    expect(PASSWORD_REQUIRED).toBe(OF_CONTRACT);
    expect(CODE_REQUIRED).toBe(CODE_REQUIRED_OF_CONTRACT);
    expect(new ApiFailure(401, { message: CODE_REQUIRED }).needsCode).toBe(true);
    expect(new ApiFailure(403, { message: OF_CONTRACT }).needsPassword).toBe(true);
    expect(new ApiFailure(403, { message: 'not permitted' }).needsPassword).toBe(false);
  });
});

import { Webhook } from 'standardwebhooks';
import { webhookRequests } from './webhook-request.js';

const event = {
  seq: 7n,
  id: 'a4d5cf3a-18d0-4a4c-8ae5-8b3c4a1f8f0e',
  type: 'statuses' as const,
  method: 'put' as const,
  payload: { statuses: [{ id: 'x' }] },
};
const secrets = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`, `whsec_${Buffer.alloc(32, 2).toString('base64')}`];
const request = (entry: Partial<Parameters<typeof webhookRequests>[1]>) =>
  webhookRequests(
    'CHAN-1',
    { url: 'https://hooks.example.com/wa', mode: 'body', events: [{ type: 'statuses' }], ...entry },
    secrets,
  )(event, Date.now());

describe('webhookRequests', () => {
  it.each([
    ['body', 'https://hooks.example.com/wa?k=1', 'POST', 'https://hooks.example.com/wa?k=1'],
    ['path', 'https://hooks.example.com/wa/?k=1', 'POST', 'https://hooks.example.com/wa/statuses/put?k=1'],
    ['method', 'https://hooks.example.com', 'PUT', 'https://hooks.example.com/statuses'],
    ['path', 'https://hooks.example.com/a%2Fb#part', 'POST', 'https://hooks.example.com/a%2Fb/statuses/put'],
  ] as const)('in mode %s turns %s into %s %s', (mode, url, method, called) => {
    const made = request({ mode, url });
    expect([made.method, made.url.href, made.origin + made.path]).toEqual([method, called, new URL(called).href]);
  });

  it('calls each kind of event at its own address, however many were called before', () => {
    const make = webhookRequests('CHAN-1', { url: 'https://hooks.example.com', mode: 'path', events: [] }, secrets);
    const kinds = (['put', 'post', 'put'] as const).map((method) => make({ ...event, method }, Date.now()).path);
    expect(kinds).toEqual(['/statuses/put', '/statuses/post', '/statuses/put']);
  });

  it('has the same body in every mode', () => {
    const bodies = (['body', 'path', 'method'] as const).map((mode) => request({ mode }).body);
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      statuses: [{ id: 'x' }],
      event: { type: 'statuses', event: 'put', method: 'put' },
      channel_id: 'CHAN-1',
    });
  });

  it("sends the customer's headers, except those that are the connection's or ours", () => {
    const { headers } = request({
      headers: {
        Authorization: 'Bearer x',
        'Content-Length': '1',
        'Transfer-Encoding': 'chunked',
        'Webhook-Id': 'mine',
      },
    });
    expect(headers).toEqual({
      authorization: 'Bearer x',
      'content-type': 'application/json',
      'user-agent': 'Dormouse-Webhooks/1',
      'webhook-id': event.id,
      'webhook-sequence': '7',
      'webhook-signature': expect.stringMatching(/^v1,\S+ v1,\S+$/),
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
    });
  });

  it('leaves out a header whose value cannot travel', () => {
    expect(request({ headers: { 'X-Broken': 'a\u0000b' } }).headers).not.toHaveProperty('x-broken');
  });

  it('turns a user and password in the URL into Basic authentication, unless an Authorization header is set', () => {
    const url = 'https://us%C3%A9r:p%40ss@hooks.example.com/';
    const made = request({ url });
    expect(made.url.href).toBe('https://hooks.example.com/');
    expect(made.headers['authorization']).toBe(`Basic ${Buffer.from('usér:p@ss').toString('base64')}`);
    expect(request({ url, headers: { authorization: 'own' } }).headers['authorization']).toBe('own');
  });

  it('can be checked with each valid secret, and by none other', () => {
    const { body, headers } = request({ headers: { 'Webhook-Signature': 'v1,forged' } });
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
    }
    expect(() => new Webhook(`whsec_${Buffer.alloc(32, 3).toString('base64')}`).verify(body, headers)).toThrow();
  });

  it('sends new messages by put to a webhook that wants put alone', () => {
    const news = { ...event, method: 'post' as const };
    const entry = { url: 'https://hooks.example.com', mode: 'method' as const };
    const made = (events: { type: 'ack'; method?: 'put' }[]) =>
      webhookRequests('CHAN-1', { ...entry, events }, secrets)(news, Date.now());
    expect(made([{ type: 'ack', method: 'put' }]).method).toBe('PUT');
    expect(made([{ type: 'ack' }]).method).toBe('POST');
  });
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(30_000);

interface RawAnswer {
  status: number;
  head: string;
  error: { code: number; details?: string; href: string };
}

describe('every answer', () => {
  let bucket: TestBucket;
  let edge: RunningEdge;
  let channel: TestChannel;
  beforeAll(async () => {
    bucket = await createTestBucket();
    edge = await RunningEdge.start({
      S3_ENDPOINT: bucket.endpoint,
      S3_BUCKET: bucket.bucket,
      S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    });
    await edge.ready();
    channel = await edge.channel();
  });
  afterAll(async () => {
    await edge.stop();
    await bucket.drop();
  });

  /** What fetch would not send. */
  async function raw(lines: string[]): Promise<RawAnswer> {
    const { hostname, port } = new URL(edge.url);
    const socket = connect(Number(port), hostname);
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, 'close');
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const { error } = JSON.parse(body) as { error: RawAnswer['error'] };
    return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), error };
  }
  const token = () => `authorization: Bearer ${channel.token}`;

  it.each([
    ['no Host', () => ['GET /chats HTTP/1.1', token(), 'connection: close'], /^host: /],
    [
      'an unknown expectation',
      () => ['GET /chats HTTP/1.1', 'host: a', token(), 'expect: x', 'connection: close'],
      /^expect: /,
    ],
    ['headers that are too large', () => ['GET /chats HTTP/1.1', 'host: a', `x-a: ${'a'.repeat(20_000)}`], /16 KiB/],
    ['a header that is none', () => ['GET /chats HTTP/1.1', 'broken'], /not valid HTTP/],
    [
      'a content type that is none',
      () => [
        'POST /messages/text HTTP/1.1',
        'host: a',
        token(),
        'content-type: garbage',
        'content-length: 2',
        'connection: close',
        '',
        '{}',
      ],
      /^content-type: /,
    ],
  ])('to %s is the envelope, with a request id that is in the log', async (_what, lines, details) => {
    const { status, head, error } = await raw(lines());
    expect([status, error]).toEqual([
      400,
      expect.objectContaining({ code: 400, details: expect.stringMatching(details) as string }),
    ]);
    expect(head).toContain('access-control-allow-origin: *');
    const [, requestId = 'none'] = /x-request-id: (\S+)/.exec(head) ?? [];
    expect(edge.logged.filter((line) => line.includes(requestId) && line.includes('"msg":"request"'))).toHaveLength(1);
  });

  it.each([5_000, 12_000])('to an id of %d characters is 404, or 401 without a token', async (length) => {
    const id = 'x'.repeat(length);
    for (const path of ['/messages/', '/chats/', '/media/', '/statuses/', '/groups/', '/contacts/']) {
      const known = await edge.ask(`GET ${path}${id}`, { token: channel.token });
      expect([path, known.status, known.error.code]).toEqual([path, 404, 404]);
      expect((await edge.ask(`GET ${path}${id}`)).status).toBe(401);
    }
    expect(edge.logged.join('')).not.toContain(id.slice(0, 100));
  });

  it.each(['garbage', '', ';', 'application/json, text/html', '/', 'a/b/c'])(
    'to a body of content type %j names the header; without a body, or where none is read, the type means nothing',
    async (type) => {
      const ask = (route: string, body?: string) =>
        edge.ask(route, { token: channel.token, headers: { 'content-type': type }, ...(body && { body }) });
      for (const route of ['POST /messages/text', 'POST /media', 'PATCH /settings', 'POST /messages/image']) {
        const { status, error } = await ask(route, '{"to":"1"}');
        expect([route, status, error.details]).toEqual([route, 400, expect.stringMatching(/^content-type: /)]);
      }
      expect((await ask('PATCH /settings')).status).toBe(200);
      expect((await ask('GET /chats')).status).toBe(200);
      for (const route of ['DELETE /messages/x', 'DELETE /messages/x/reaction', 'DELETE /media/x', 'DELETE /chats/x']) {
        expect([route, (await ask(route, 'not json')).status]).toEqual([route, 404]);
      }
    },
  );

  it('to a range behind the end of a file is the envelope, too', async () => {
    const kept = await edge.ask('POST /media', { token: channel.token, body: { media: 'aGVsbG8gd29ybGQ=' } });
    const { id } = kept.json as { id: string };
    const refused = await edge.ask(`GET /media/${id}`, { token: channel.token, headers: { range: 'bytes=99-' } });
    expect(refused.status).toBe(416);
    expect(refused.headers.get('content-range')).toBe('bytes */11');
    expect(refused.error).toMatchObject({
      code: 416,
      details: 'range: the file has 11 bytes',
      href: 'https://docs.example.com/errors#range-not-satisfiable',
    });
  });

  it('to a page of another origin can be read; its preflight needs no token', async () => {
    const origin = 'https://app.example.com';
    const preflight = await edge.ask('OPTIONS /messages/text', {
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    });
    expect([preflight.status, preflight.text]).toEqual([204, '']);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    for (const [route, bearer] of [
      ['GET /chats', channel.token],
      ['GET /chats', undefined],
      ['POST /messages/text', channel.token],
      ['GET /nothing', channel.token],
    ] as const) {
      const answer = await edge.ask(route, { headers: { origin }, ...(bearer && { token: bearer }) });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    }
    expect((await edge.ask('OPTIONS /chats', { token: channel.token })).status).toBe(501);
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toBuffer } from 'qrcode';
import { serveWaitingLogins, type WaitingLogins } from './waiting-logins.js';

/** What the gateway answers for the channel with one token. */
interface Answers {
  health: { status: number; text?: string };
  /** The texts of the codes that the login image holds, one after the other; none: 403, as of a channel that is linked. */
  codes: string[];
}

describe('the channels that wait to be linked', () => {
  let gateway: Server;
  let edgeUrl: string;
  let answers: Record<string, Answers>;
  let requests: string[];
  let logins: WaitingLogins;

  beforeAll(async () => {
    gateway = createServer((request, response) => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      const path = request.url ?? '';
      requests.push(`${token} ${path}`);
      const channel = answers[token];
      if (path.startsWith('/health')) {
        const { status, text } = channel?.health ?? { status: 401 };
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(text === undefined ? { error: {} } : { status: { text } }));
        return;
      }
      const code = channel?.codes.shift();
      if (code === undefined) response.writeHead(403).end('{}');
      else void toBuffer(code).then((png) => response.writeHead(200, { 'content-type': 'image/png' }).end(png));
    });
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    edgeUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  });

  beforeEach(async () => {
    answers = {};
    requests = [];
    logins = await serveWaitingLogins();
  });

  afterAll(() => gateway.close());

  const offer = (name: string, state: Answers): void => {
    answers[`token-of-${name}`] = state;
    logins.offer({ name, edgeUrl, token: `token-of-${name}` });
  };
  const listed = async (): Promise<unknown> => (await fetch(logins.url)).json();

  it('are none before one is offered', async () => {
    expect(await listed()).toEqual([]);
  });

  it.each(['not_linked', 'qr'])('are listed with the code of their login image, when %s', async (text) => {
    offer('Sandbox', { health: { status: 200, text }, codes: ['2@first,a,b,c,1'] });
    expect(await listed()).toEqual([{ name: 'Sandbox', code: '2@first,a,b,c,1' }]);
  });

  it('are requested anew each time: codes change', async () => {
    offer('Sandbox', { health: { status: 200, text: 'qr' }, codes: ['2@first,a,b,c,1', '2@second,a,b,c,1'] });
    await listed();
    expect(await listed()).toEqual([{ name: 'Sandbox', code: '2@second,a,b,c,1' }]);
  });

  it.each(['connected', 'connecting', 'initializing', 'error', 'sync_error'])(
    'are without one that is %s, whose health alone is read: it is not woken, and no image is requested',
    async (text) => {
      offer('Linked', { health: { status: 200, text }, codes: ['2@never,a,b,c,1'] });
      expect(await listed()).toEqual([]);
      expect(requests).toEqual(['token-of-Linked /health?wakeup=false']);
    },
  );

  it('are listed although another was linked meanwhile, is unknown, or cannot be reached', async () => {
    offer('Just linked', { health: { status: 200, text: 'qr' }, codes: [] });
    offer('Deleted', { health: { status: 401 }, codes: ['2@never,a,b,c,1'] });
    logins.offer({ name: 'Elsewhere', edgeUrl: 'http://127.0.0.1:1', token: 'none' });
    offer('Waiting', { health: { status: 200, text: 'not_linked' }, codes: ['2@here,a,b,c,1'] });
    expect(await listed()).toEqual([{ name: 'Waiting', code: '2@here,a,b,c,1' }]);
  });

  it('are not given out at any other address', async () => {
    offer('Sandbox', { health: { status: 200, text: 'qr' }, codes: ['2@secret,a,b,c,1'] });
    const { origin, pathname, port } = new URL(logins.url);
    for (const other of [
      '/',
      `${pathname}/`,
      pathname.slice(0, -1),
      new URL((await serveWaitingLogins()).url).pathname,
    ]) {
      const answer = await fetch(origin + other);
      expect([answer.status, await answer.text()]).toEqual([404, '']);
    }
    expect(requests).toEqual([]);
    // A server that listens on every address of a machine is reached at this one, too.
    await expect(fetch(`http://127.0.0.2:${port}${pathname}`)).rejects.toThrow('fetch failed');
  });
});

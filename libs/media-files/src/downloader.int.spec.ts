import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Downloader } from './downloader.js';

let server: Server;
let handle: RequestListener;
let requested: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    requested.push(`${request.headers.host} ${request.url}`);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  requested = [];
});

const port = () => (server.address() as AddressInfo).port;
const at = (path: string, host = '127.0.0.1') => new URL(`http://${host}:${port()}${path}`);

async function using<T>(downloader: Downloader, work: (downloader: Downloader) => Promise<T>): Promise<T> {
  try {
    return await work(downloader);
  } finally {
    await downloader.close();
  }
}

const refusal = (reason: RegExp) => ({ status: 400, details: expect.stringMatching(reason) as unknown });

describe('where a download may go', () => {
  it.each([
    'http://127.0.0.1',
    'http://localhost',
    'http://[::1]',
    'http://0x7f.1',
    'http://2130706433',
    'http://0.0.0.0',
    'http://[::ffff:127.0.0.1]',
    'http://169.254.169.254',
    'http://10.1.2.3',
  ])('refuses %s without connecting', async (origin) => {
    handle = (_request, response) => response.end('secret');
    await using(new Downloader(), async (downloader) => {
      await expect(downloader.open(new URL(`${origin}:${port()}/`))).rejects.toMatchObject(
        refusal(/^media: .*not public/),
      );
    });
    expect(requested).toEqual([]);
  });

  it('connects to the address it checked: a name is resolved once per connection', async () => {
    handle = (_request, response) => response.end('open');
    let resolved = 0;
    const rebinding = new Downloader({
      allowLoopback: true,
      lookup: (_name, _options, callback) => {
        resolved += 1;
        callback(null, [{ address: resolved === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]);
      },
    });
    await using(rebinding, async (downloader) => {
      const found = await downloader.open(at('/', 'rebind.example'));
      expect((await buffer(found.stream)).toString()).toBe('open');
      expect(resolved).toBe(1);
      await expect(downloader.open(at('/', 'other.example'))).rejects.toMatchObject(refusal(/not public/));
    });
    expect(requested).toHaveLength(1);
  });

  it('leaves out the addresses that are not allowed when a name has several', async () => {
    handle = (_request, response) => response.end('open');
    const mixed = new Downloader({
      allowLoopback: true,
      lookup: (_name, _options, callback) =>
        callback(null, [
          { address: '169.254.169.254', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    });
    await using(mixed, async (downloader) => {
      const found = await downloader.open(at('/', 'mixed.example'));
      expect((await buffer(found.stream)).toString()).toBe('open');
    });
  });

  it('checks the target of every redirect', async () => {
    handle = (request, response) =>
      request.url === '/start'
        ? response.writeHead(302, { location: 'http://10.0.0.1/latest/meta-data' }).end()
        : response.end();
    await using(new Downloader({ allowLoopback: true }), async (downloader) => {
      await expect(downloader.open(at('/start'))).rejects.toMatchObject(refusal(/not public/));
    });
    handle = (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    await using(new Downloader({ allowLoopback: true }), async (downloader) => {
      await expect(downloader.open(at('/'))).rejects.toMatchObject(refusal(/not http/));
    });
  });

  it('follows a few redirects and gives up on endless ones', async () => {
    handle = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else response.end('there');
    };
    await using(new Downloader({ allowLoopback: true }), async (downloader) => {
      const found = await downloader.open(at('/5'));
      expect((await buffer(found.stream)).toString()).toBe('there');
      await expect(downloader.open(at('/6'))).rejects.toMatchObject(refusal(/more than 5 redirects/));
    });
  });

  it('refuses a URL with credentials', async () => {
    await using(new Downloader({ allowLoopback: true }), (downloader) =>
      expect(downloader.open(new URL(`http://user:pw@127.0.0.1:${port()}/`))).rejects.toMatchObject(
        refusal(/password/),
      ),
    );
  });
});

describe('what comes back', () => {
  const open = (path = '/', options = {}) =>
    using(new Downloader({ allowLoopback: true, ...options }), async (downloader) => {
      const found = await downloader.open(at(path));
      return { ...found, bytes: await buffer(found.stream) };
    });

  it('names the file as the server does, or else as the URL does', async () => {
    handle = (_request, response) =>
      response
        .setHeader(
          'content-disposition',
          `attachment; filename="x.pdf"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf`,
        )
        .end('x');
    expect((await open('/download?id=1')).claimedName).toBe('отчёт.pdf');
    handle = (_request, response) =>
      response.setHeader('content-disposition', 'attachment; filename=invoice 2025.pdf').end('x');
    expect((await open('/download?id=2')).claimedName).toBe('invoice 2025.pdf');
    handle = (_request, response) => response.end('x');
    expect((await open('/files/%D1%8F.jpg?size=1')).claimedName).toBe('я.jpg');
  });

  it('decodes a body that was compressed unasked', async () => {
    handle = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('plain'));
    const found = await open();
    expect(found.bytes.toString()).toBe('plain');
    expect(found.claimedSize).toBeUndefined();
  });

  it('names the status that a refusing server answered', async () => {
    handle = (_request, response) => response.writeHead(404).end();
    await expect(open()).rejects.toMatchObject(refusal(/^media: could not be downloaded \(HTTP 404\)$/));
  });

  it('fails a body that ends early', async () => {
    handle = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.destroy());
    };
    await expect(open()).rejects.toThrow();
  });

  it('gives up on silence, before and within the answer, and on trickling for ever', async () => {
    handle = () => undefined;
    await expect(open('/', { idleTimeoutMs: 100 })).rejects.toMatchObject(refusal(/took too long/));
    handle = (_request, response) => response.writeHead(200).write('a');
    await expect(open('/', { idleTimeoutMs: 100 })).rejects.toThrow();
    handle = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 10);
      response.once('close', () => clearInterval(drip));
    };
    await expect(open('/', { totalTimeoutMs: 200 })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

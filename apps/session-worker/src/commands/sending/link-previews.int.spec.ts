import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Downloader } from '@dormouse/media-files';
import sharp from 'sharp';
import { zeroPng } from '@dormouse/stack/hostile-files';
import { testImages } from '../../media/test-images.js';
import { LinkPreviews } from './link-previews.js';

describe('link previews', () => {
  let server: Server;
  let origin: string;
  let requested: string[];
  let pages: Record<string, (response: ServerResponse) => void>;
  const html =
    (head: string, type = 'text/html; charset=utf-8') =>
    (response: ServerResponse) => {
      response.setHeader('content-type', type);
      response.end(`<!doctype html><html><head>${head}</head><body>words</body></html>`);
    };
  beforeAll(async () => {
    server = createServer((request, response) => {
      requested.push(request.url ?? '');
      const page = pages[request.url ?? ''];
      if (page) page(response);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    requested = [];
    pages = {};
  });

  const { images, close } = testImages();
  afterAll(close);
  const previews = (now?: () => number) => new LinkPreviews(new Downloader({ allowLoopback: true }), images, now);

  it('show the title and description of a page, with a small picture', async () => {
    const picture = await sharp({ create: { width: 400, height: 200, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    pages = {
      '/a': html(
        '<title>Old</title><meta property="og:title" content=" New &amp; Co "><meta name="description" content="All">' +
          '<meta property="og:image" content="/p.png">',
      ),
      '/p.png': (response) => response.setHeader('content-type', 'image/png').end(picture),
    };
    const found = previews();
    const preview = await found.of(`${origin}/a`, 'CH');
    expect(preview).toMatchObject({ title: 'New & Co', description: 'All' });
    const wide = await found.widePicture(preview ?? { title: '' }, 'CH');
    expect(wide).toMatchObject({ width: 400, height: 200 });
    expect(await sharp(wide?.jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 400 });
    pages = {};
    expect(await found.widePicture(preview ?? { title: '' }, 'CH')).toBeUndefined();
    expect(await sharp(preview?.picture).metadata()).toMatchObject({ format: 'jpeg', width: 96, height: 48 });
  });

  it('show the title alone of a page that has nothing else', async () => {
    pages = { '/a': html('<title>Just this</title><meta property="og:image" content="/none.png">') };
    expect(await previews().of(`${origin}/a`, 'CH')).toEqual({ title: 'Just this' });
  });

  it('are none for what is no page, has no title, or is not there', async () => {
    pages = { '/json': html('<title>x</title>', 'application/json'), '/bare': html('') };
    for (const path of ['/json', '/bare', '/gone']) expect(await previews().of(origin + path, 'CH')).toBeUndefined();
  });

  it('read no more than the beginning of an endless page', async () => {
    pages = {
      '/endless': (response) => {
        response.setHeader('content-type', 'text/html');
        response.write('<title>Endless</title>');
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      },
    };
    expect(await previews().of(`${origin}/endless`, 'CH')).toEqual({ title: 'Endless' });
  });

  it('show a page in the encoding of its header', async () => {
    pages = {
      '/a': (response) => {
        response.setHeader('content-type', 'text/html; charset=windows-1251');
        response.end(Buffer.concat([Buffer.from('<title>'), Buffer.from('cff0e8e2e5f2', 'hex')]));
      },
    };
    expect(await previews().of(`${origin}/a`, 'CH')).toEqual({ title: 'Привет' });
  });

  it('leave out a picture that needs much memory to decode', async () => {
    const picture = zeroPng({ width: 10_900, height: 10_900 });
    pages = {
      '/a': html('<title>Bomb</title><meta property="og:image" content="/p.png">'),
      '/p.png': (response) => response.setHeader('content-type', 'image/png').end(picture),
    };
    expect(await previews().of(`${origin}/a`, 'CH')).toEqual({ title: 'Bomb' });
  });

  it('are given up long before a download is', async () => {
    const patient = new Downloader({ allowLoopback: true, idleTimeoutMs: 600_000, totalTimeoutMs: 600_000 });
    pages = { '/silent': (response) => void response.setHeader('content-type', 'text/html').write('<title>') };
    expect(await new LinkPreviews(patient, images).of(`${origin}/silent`, 'CH')).toBeUndefined();
  });

  it('are never fetched from addresses that are not public', async () => {
    pages = { '/a': html('<title>Secret</title>') };
    expect(await new LinkPreviews(new Downloader(), images).of(`${origin}/a`, 'CH')).toBeUndefined();
    expect(requested).toEqual([]);
  });

  it('are fetched once for many sends, and again after some minutes', async () => {
    pages = { '/a': html('<title>Page</title>') };
    let nowMs = 1;
    const caching = previews(() => nowMs);
    await Promise.all(Array.from({ length: 10 }, () => caching.of(`${origin}/a`, 'CH')));
    nowMs = 4 * 60_000;
    await caching.of(`${origin}/a`, 'CH');
    expect(requested).toEqual(['/a']);
    nowMs = 6 * 60_000;
    await caching.of(`${origin}/a`, 'CH');
    expect(requested).toEqual(['/a', '/a']);
  });
});

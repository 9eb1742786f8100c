import { brotliDecompressSync } from 'node:zlib';
import { RunningControlPlane } from '../test-control-plane.js';

jest.setTimeout(60_000);

describe('the documentation site', () => {
  let plane: RunningControlPlane;
  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());

  const get = (url: string, headers: Record<string, string> = {}) => plane.app.inject({ method: 'GET', url, headers });

  it('is served under addresses without endings, with nothing from elsewhere allowed', async () => {
    for (const path of ['/docs', '/docs/', '/docs/errors', '/docs/errors/', '/docs/settings']) {
      const page = await get(path);
      expect([path, page.statusCode, page.headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(page.headers['content-security-policy']).toMatch(/^default-src 'self'; .*frame-ancestors 'none'/);
      expect(page.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'public, max-age=0' });
    }
  });

  it('keeps what has a hash in its name for a year, and answers 304 to a page that has not changed', async () => {
    const page = await get('/docs');
    const style = /href="(\/docs\/assets\/site\.[0-9a-f]{12}\.css)"/.exec(page.payload)?.[1] ?? '';
    const { statusCode, headers } = await get(style);
    expect([statusCode, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    const again = await get('/docs', { 'if-none-match': String(page.headers.etag) });
    expect([again.statusCode, again.payload]).toEqual([304, '']);
  });

  it('is sent compressed to who accepts that, and whole to others', async () => {
    const packed = await get('/docs/errors', { 'accept-encoding': 'gzip, deflate, br' });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'br', 'content-type': 'text/html; charset=utf-8' });
    expect(packed.headers['vary']).toMatch(/accept-encoding/i);
    const page = await get('/docs/errors');
    expect(page.headers['content-encoding']).toBeUndefined();
    expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(page.payload);
    expect(packed.rawPayload.length).toBeLessThan(page.rawPayload.length / 2);
  });

  it('has a page of its own for what does not exist, and no way out of its folder', async () => {
    for (const path of ['/docs/nothing', '/docs/assets', '/docs/..%2f..%2fpackage.json', '/docs/index.html.map']) {
      const page = await get(path);
      expect([path, page.statusCode, page.headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8']);
      expect(page.payload).toContain('No such page');
    }
  });

  it('leaves the other addresses of the server as they were', async () => {
    expect((await get('/api/v1/nothing')).json()).toMatchObject({ error: { code: 404 } });
    for (const path of ['/documents', '/doc', '/']) {
      expect((await get(path)).payload).not.toMatch(/Dormouse documentation|No such page/);
    }
  });
});

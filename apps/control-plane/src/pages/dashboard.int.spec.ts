import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '@dormouse/bootstrap';
import { fastify, type FastifyInstance } from 'fastify';
import { serveDashboard } from './dashboard.js';

const log = openLog({ name: 'spec', level: 'silent' });
const PAGE = '<meta property="csp-nonce" nonce="NONCE_OF_THIS_PAGE"><script nonce="NONCE_OF_THIS_PAGE"></script>';

describe('the dashboard', () => {
  let files: string;
  let server: FastifyInstance;

  beforeAll(async () => {
    files = mkdtempSync(join(tmpdir(), 'dashboard-'));
    mkdirSync(join(files, 'assets'));
    writeFileSync(join(files, 'index.html'), PAGE);
    writeFileSync(join(files, 'assets', 'index-1.js'), 'script');
    writeFileSync(join(files, 'assets', 'index-1.js.br'), 'compressed');
    server = fastify();
    serveDashboard(server, { files, gatewayUrls: ['https://sg.gateway.test/path'] }, log);
    await server.ready();
  });

  afterAll(async () => {
    await server.close();
    rmSync(files, { recursive: true });
  });

  it.each(['/', '/channels/NINJA-4XK2P?tab=events', '/verify-email?token=t'])(
    'is the page at %s, kept by nobody',
    async (url) => {
      const { statusCode, headers, body } = await server.inject(url);
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-store',
      ]);
      expect(body).not.toContain('NONCE_OF_THIS_PAGE');
    },
  );

  it('has a nonce of its own in each answer, and in its policy', async () => {
    const [first, second] = await Promise.all([server.inject('/'), server.inject('/')]);
    const nonces = [first, second].map(({ body }) => [...body.matchAll(/nonce="([^"]+)"/g)].map(([, nonce]) => nonce));
    expect(new Set(nonces[0]).size).toBe(1);
    expect(nonces[0]).not.toEqual(nonces[1]);
    expect(first.headers['content-security-policy']).toContain(`style-src 'self' 'nonce-${nonces[0]?.[0]}'`);
  });

  it('may make requests to its own origin and to the gateways, load scripts of its own, and be framed by nobody', async () => {
    const { headers } = await server.inject('/');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'self';");
    expect(policy).toContain("connect-src 'self' https://sg.gateway.test;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|script-src/);
  });

  it('serves files compressed and for a year', async () => {
    const { headers, body } = await server.inject({ url: '/assets/index-1.js', headers: { 'accept-encoding': 'br' } });
    expect([body, headers['content-encoding'], headers['cache-control']]).toEqual([
      'compressed',
      'br',
      'public, max-age=31536000, immutable',
    ]);
  });

  it.each(['/api/v1/unknown', '/metrics', '/docs/unknown', '/assets/unknown.js', '/assets/..%2findex.html'])(
    'is not at %s',
    async (url) => {
      expect((await server.inject(url)).statusCode).toBe(404);
    },
  );

  it('is left out where it is not built, and the rest is served', async () => {
    const bare = fastify();
    serveDashboard(bare, { files: join(files, 'nothing'), gatewayUrls: [] }, log);
    expect((await bare.inject('/')).statusCode).toBe(404);
    await bare.close();
  });
});

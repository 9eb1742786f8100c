import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERROR_TABLE, errorEnvelope, GatewayError, isErrorStatus } from '@dormouse/gateway-contract';
import { ENDPOINTS } from '@dormouse/gateway-contract/openapi';
import { OPERATIONS } from '@dormouse/management-contract';
import { buildSite } from './build-site.js';
import { DOCS_PREFIX } from './index.js';

/** Hosts that pages may link to. */
const KNOWN_HOSTS = ['www.standardwebhooks.com', 'www.w3.org'];

describe('the built site', () => {
  let folder: string;
  /** Pages by their address. */
  const pages = new Map<string, string>();
  const files = new Set<string>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dormouse-docs-'));
    await buildSite(folder);
    for (const name of await readdir(folder, { recursive: true })) {
      if (!/\.\w+$/.test(name) || name.endsWith('.br')) continue;
      files.add(`${DOCS_PREFIX}/${name}`);
      if (!name.endsWith('.html')) continue;
      const address = `${DOCS_PREFIX}/${name.replace(/\.html$/, '')}`.replace(/\/index$/, '');
      pages.set(address, await readFile(join(folder, name), 'utf8'));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const idsOf = (html: string) => [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? '');
  const linksOf = (html: string) => [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, link]) => link ?? '');

  it('has a target for every link and every anchor, and other hosts only where they are known', () => {
    const broken = [...pages].flatMap(([address, html]) =>
      linksOf(html)
        .filter((link) => {
          if (/^https?:/.test(link)) return !KNOWN_HOSTS.includes(new URL(link).host);
          const { pathname, hash } = new URL(link, `http://docs${address}`);
          if (files.has(pathname) && hash === '') return false;
          const page = pages.get(pathname);
          return page === undefined || (hash !== '' && !idsOf(page).includes(hash.slice(1)));
        })
        .map((link) => `${address}: ${link}`),
    );
    expect(broken).toEqual([]);
    expect(pages.size).toBeGreaterThan(20);
  });

  it('has the section that `error.href` of every error leads to', () => {
    const site = { docsUrl: `https://api.test${DOCS_PREFIX}`, supportAddress: 'help@test' };
    const statuses = Object.keys(ERROR_TABLE).map(Number).filter(isErrorStatus);
    for (const status of statuses) {
      const { pathname, hash } = new URL(errorEnvelope(new GatewayError(status), site).error.href);
      expect(pages.get(pathname)).toMatch(new RegExp(`<h2 id="${hash.slice(1)}">${status} `));
    }
  });

  it('gives no id twice on a page, one first heading, a title, and no script or style inside', () => {
    for (const [address, html] of pages) {
      const ids = idsOf(html);
      expect([address, ids.filter((id, place) => ids.indexOf(id) !== place)]).toEqual([address, []]);
      expect([address, html.match(/<h1/g)?.length]).toEqual([address, 1]);
      expect(html).toMatch(/<title>[^<]{5,}<\/title>/);
      expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle="|\son\w+="|javascript:/);
    }
  });

  it('describes every call of the gateway and every operation of the management API', () => {
    const all = [...pages.values()].join('\n');
    const anchor = (name: string) => name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
    const missing = [...Object.keys(ENDPOINTS), ...Object.keys(OPERATIONS)].filter(
      (name) => !all.includes(`<h2 id="${anchor(name)}">`),
    );
    expect(missing).toEqual([]);
  });

  it('has the three documents for programs', async () => {
    for (const name of ['gateway', 'management', 'webhooks']) {
      const document = JSON.parse(await readFile(join(folder, `openapi/${name}.json`), 'utf8')) as { openapi: string };
      expect(document.openapi).toBe('3.1.0');
    }
  });
});

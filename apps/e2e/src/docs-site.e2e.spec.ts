import type { Browser, BrowserContext, Page } from 'playwright-core';
import { EXAMINED, faultsInLook, markExamined } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { RunningStack } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';

describeInBrowser('the documentation site', () => {
  let running: RunningStack<SharedStack>;
  let browser: Browser;
  let context: BrowserContext;
  let origin: string;
  /** Requests to other hosts, failed ones, and what the policy refused. */
  const faults: string[] = [];

  beforeAll(async () => {
    running = await RunningStack.shared();
    origin = running.stack.urls.controlPlane;
    browser = await openBrowser();
    context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    context.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) faults.push(`another host: ${request.url()}`);
    });
    context.on('response', (response) => {
      if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
    });
    context.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await running.stop();
  }, 60_000);

  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${origin}${path}`);
    return page;
  };

  /** Every page: the list of pages names them all, those of a reference while it is open. */
  const everyPage = async (): Promise<string[]> => {
    const page = await open('/docs');
    const found = new Set(['/docs']);
    for (const path of ['/docs', '/docs/api/gateway', '/docs/api/management']) {
      await page.goto(`${origin}${path}`);
      const links = await page.evaluate<string[]>(
        "[...document.querySelectorAll('nav.pages .wide a')].map((one) => one.pathname)",
      );
      for (const link of links) found.add(link);
    }
    await page.close();
    return [...found];
  };

  const examined = new Set<string>();

  /** Findings on a page, of what looks like nothing that was examined before: the same functions make all pages. */
  const findingsOf = async (page: Page, path: string): Promise<string[]> => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${origin}${path}`);
    const beyondPx = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    const found = beyondPx > 0 ? [`${beyondPx} px wider than the screen`] : [];
    await page.setViewportSize({ width: 1280, height: 900 });
    await markExamined(page, examined);
    for (const look of ['light', 'dark'] as const) found.push(...(await faultsInLook(page, look, [EXAMINED])));
    return found.map((fault) => `${path}: ${fault}`);
  };

  it('has no serious finding of axe on any page, in light and dark, and fits into 360 px', async () => {
    const paths = await everyPage();
    expect(paths.length).toBeGreaterThan(30);
    const found: string[] = [];
    const work = async () => {
      const page = await context.newPage();
      for (let path = paths.pop(); path !== undefined; path = paths.pop())
        found.push(...(await findingsOf(page, path)));
      await page.close();
    };
    await Promise.all([work(), work()]);
    expect(found).toEqual([]);
  }, 180_000);

  it('finds a call by the keyboard alone, and leads there', async () => {
    const page = await open('/docs');
    const search = page.getByRole('combobox', { name: 'Search the documentation' });
    await search.focus();
    await page.keyboard.type('send a voice');
    await page.getByRole('option', { name: /Send a voice note/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('option', { selected: true }).textContent()).toContain('Send a voice note');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/docs/api/gateway/messages#send-voice`);
    expect(await page.getByRole('heading', { name: 'Send a voice note' }).isVisible()).toBe(true);
    await page.close();
  });

  it('copies a sample, and keeps the theme that a reader chose', async () => {
    const page = await open('/docs/first-message');
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('curl -s "$DORMOUSE_URL/health"');
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const before = await ground();
    await page.getByRole('button', { name: 'Dark colours' }).click();
    expect(await ground()).not.toBe(before);
    const dark = await ground();
    await page.goto(`${origin}/docs/webhooks`);
    expect(await ground()).toBe(dark);
    await page.evaluate('localStorage.clear()');
    await page.close();
  });

  it('can be read and walked through without JavaScript, on a small screen', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const page = await plain.newPage();
    await page.goto(`${origin}/docs`);
    await page.getByText('All pages').click();
    await page.locator('.menu').getByRole('link', { name: 'Webhooks', exact: true }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Webhooks');
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await plain.close();
  });

  it('has the section that an error of the gateway leads to', async () => {
    const client = running.client(undefined);
    const { body } = await client.get<{ error: { href: string } }>('/chats');
    expect(body.error.href).toBe(`${origin}/docs/errors#unauthorized`);
    const page = await context.newPage();
    await page.goto(body.error.href);
    expect(await page.locator(':target').textContent()).toMatch(/^401 /);
    await page.close();
  });

  it('made no request to another host, got no error, and broke no rule of its policy', () => {
    expect(faults).toEqual([]);
  });
});

describeInBrowser('a page of the control plane', () => {
  let running: RunningStack<SharedStack>;
  let browser: Browser;

  beforeAll(async () => {
    running = await RunningStack.shared();
    browser = await openBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await running.stop();
  }, 60_000);

  it('may make a request to the gateway: the preflight needs no token, and an answer shows its request id', async () => {
    const { client } = await running.createChannel('Browser');
    const page = await browser.newPage();
    // The dashboard: the documentation itself makes no requests to a gateway.
    await page.goto(running.stack.urls.controlPlane);
    const code = `fetch('${running.edgeUrl}/health', { headers: { authorization: 'Bearer TOKEN', 'idempotency-key': 'x' } })
      .then(async (answer) => ({ status: answer.status, id: answer.headers.get('x-request-id'), body: await answer.json() }))`;
    const request = (token: string) =>
      page.evaluate<{ status: number; id: string | null; body: object }>(code.replace('TOKEN', token));
    const good = await request(client.token ?? '');
    expect([good.status, good.body]).toMatchObject([200, { status: { text: 'not_linked' } }]);
    expect(good.id).toMatch(/.{8}/);
    expect(await request('dm_sg_wrong')).toMatchObject({ status: 401, body: { error: { code: 401 } } });
    await page.close();
  });
});

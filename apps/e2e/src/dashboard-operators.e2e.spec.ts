import { TOTP, URI } from 'otpauth';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { pageFaults } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { DashboardUser } from './harness/dashboard-user.js';
import { RunningStack } from './harness/running-stack.js';

/** A code of the next 30 seconds: the one of these was used to turn the second factor on. */
const NEXT_CODE_MS = 30_000;

describeInBrowser('the pages of operators', () => {
  let running: RunningStack;
  let browser: Browser;
  let page: Page;
  let origin: string;
  let user: DashboardUser;
  /** The operator's authenticator app. */
  let app: TOTP;

  beforeAll(async () => {
    running = await RunningStack.start({ workers: 2, billing: true });
    origin = running.stack.publicUrl;
    user = await DashboardUser.create({ origin, mailbox: running.stack.urls.mail ?? '' }, 'operator@example.com');
    const database = new pg.Client({ connectionString: running.stack.databases.global });
    await database.connect();
    await database.query('UPDATE users SET is_operator = true WHERE email = $1', [user.email]);
    await database.end();
    browser = await openBrowser();
    page = await (await browser.newContext()).newPage();
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await running.stop();
  }, 60_000);

  const signIn = async (): Promise<void> => {
    await page.goto(`${origin}/operators`);
    await page.getByLabel('E-mail address').fill(user.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(user.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  /** A request of the page's own session, as a program would make it. */
  const call = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await page.context().request.fetch(`${origin}/api/v1${path}`, {
      method,
      data: body,
      headers: { origin },
    });
    if (!response.ok()) throw new Error(`${path}: ${response.status()} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };

  it('are closed without a second factor, and say how to turn it on', async () => {
    await signIn();
    await page.getByText('Turn on your second factor first').waitFor();
    expect(await page.getByRole('link', { name: 'Open the profile' }).getAttribute('href')).toBe('/profile');
    const { totp_uri: uri } = await call('POST', '/auth/second-factor', { password: user.password });
    const parsed = URI.parse(String(uri));
    if (!(parsed instanceof TOTP)) throw new Error('no TOTP');
    app = parsed;
    await call('POST', '/auth/second-factor/confirm', { code: app.generate() });
    await page.context().clearCookies();
  });

  it('let an operator in with a code, who drains a worker while watching it, and ends the drain', async () => {
    await signIn();
    await page
      .getByLabel('Code of your authenticator app')
      .fill(app.generate({ timestamp: Date.now() + NEXT_CODE_MS }));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('2 workers for').waitFor();
    expect(await pageFaults(page)).toEqual([]);
    await page.getByRole('link', { name: /Singapore/ }).click();
    await page.getByText('Nothing is stuck.').waitFor();
    const workers = page.getByRole('list', { name: 'Workers' }).getByRole('listitem');
    const drained = workers.first();
    await drained.getByRole('button', { name: /^Drain:/ }).click();
    await drained.getByText('Drained', { exact: true }).waitFor({ timeout: 40_000 });
    await drained.getByText(', 0 shards,').waitFor();
    await workers.nth(1).getByText('Takes shards').waitFor();
    expect(await pageFaults(page)).toEqual([]);
    await drained.getByRole('button', { name: /^End the drain:/ }).click();
    await drained.getByText('Takes shards').waitFor();
  }, 90_000);

  it('show the last hour as plots, and the same as numbers', async () => {
    const plots = page.getByRole('img', { name: 'Numbers by state' });
    await plots.locator('canvas').waitFor();
    const numbers = page.getByRole('button', { name: 'The same as numbers' }).first();
    await numbers.press('Enter');
    await page.getByRole('columnheader', { name: 'Wakes' }).waitFor();
    expect(await pageFaults(page)).toEqual([]);
  }, 60_000);

  it('find an account, and show it as its customer sees it, which its audit log has', async () => {
    const customer = await running.management.call<{ id: string; name: string }>('GET', '/account');
    await running.management.createChannel('Bakery');
    await page.getByRole('link', { name: 'Accounts' }).click();
    await page.getByRole('searchbox').fill(customer.body.id);
    await page.getByRole('link', { name: new RegExp(customer.body.name) }).click();
    await page.getByText('Look as the customer').waitFor();
    expect(await pageFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Look as the customer' }).click();
    await page.getByText(`You look at ${customer.body.name}`).waitFor();
    await page.getByText('Bakery').waitFor();
    expect(await page.getByRole('link', { name: 'New channel' }).count()).toBe(0);
    expect(await pageFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'End the look' }).click();
    await page.getByText('Facts').waitFor();
    const { body: log } = await running.management.call<{ entries: { actor: object }[] }>(
      'GET',
      '/audit?action=operator.look',
    );
    expect(log.entries).toMatchObject([{ actor: { kind: 'operator' } }]);
  }, 60_000);
});

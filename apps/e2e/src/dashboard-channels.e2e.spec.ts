import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { pageFaults } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { DashboardUser } from './harness/dashboard-user.js';
import { eventually } from './harness/eventually.js';
import { loginCode, RunningStack, untilConnected } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import { codeOnScreen } from './harness/screen-code.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

const MANY = 1_200;

describeInBrowser('the channels of an account in the dashboard', () => {
  let running: RunningStack<SharedStack>;
  let browser: Browser;
  let page: Page;
  let user: DashboardUser;
  let webhook: WebhookReceiver;
  let friend: VirtualPhone;
  /** A linked channel. */
  let id: string;
  let phone: VirtualPhone;

  beforeAll(async () => {
    running = await RunningStack.shared();
    browser = await openBrowser();
    webhook = await WebhookReceiver.start();
    const places = { origin: running.stack.publicUrl, mailbox: running.stack.urls.mail ?? '' };
    user = await DashboardUser.create(places, 'ann@channels.example.com');
    const context = await browser.newContext();
    await user.signIn(context);
    page = await context.newPage();
    friend = await running.network.createPhone({ name: 'Fred Friend' });
    phone = await running.network.createPhone({ name: 'Ann' });
    const made = await user.call<{ channel: { id: string }; token: string }>('POST', '/channels', { name: 'Linked' });
    ({ id } = made.channel);
    const client = running.client(made.token);
    await eventually(async () => phone.scan(await loginCode(client)), { what: 'the channel is linked' });
    await untilConnected(client);
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await running?.stop();
    await webhook?.close();
  }, 60_000);

  const open = (path: string): Promise<unknown> => page.goto(running.stack.publicUrl + path);
  const query = async (database: 'global' | 'sg', text: string, values: unknown[] = []): Promise<void> => {
    const client = new pg.Client({ connectionString: running.stack.databases[database] });
    await client.connect();
    await client.query(text, values);
    await client.end();
  };

  it('are linked with the code that is on the screen after it was replaced twice', async () => {
    const other = await running.network.createPhone({ name: 'Bea' });
    const { channel } = await user.call<{ channel: { id: string } }>('POST', '/channels', { name: 'Second' });
    await open(`/channels/${channel.id}/start`);
    const first = await codeOnScreen(page);
    // A worker that goes takes its codes with it; the next one offers others.
    await running.stack.restart('session-worker');
    const second = await codeOnScreen(page, { not: first });
    await running.stack.restart('session-worker');
    const third = await codeOnScreen(page, { not: second });
    await expect(other.scan(first)).rejects.toThrow();
    await other.scan(third);
    await page.getByText(`Linked: +${other.phone}`).waitFor();
    expect(new Set([first, second, third]).size).toBe(3);
  }, 90_000);

  it('keep a selected webhook event after saving and reloading, and what the page does not show', async () => {
    const foreign = { mobile_proxy: 'of another program', webhooks: [{ url: webhook.url, events: [{ type: 'ack' }] }] };
    await user.call('PATCH', `/channels/${id}/settings`, foreign);
    await open(`/channels/${id}/settings`);
    await page.getByLabel('calls.post').check();
    await page.getByLabel('statuses.put').uncheck();
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await page.getByLabel('calls.post').waitFor();
    const isChecked = (name: string): Promise<boolean> => page.getByLabel(name).isChecked();
    expect(await Promise.all(['calls.post', 'statuses.post', 'statuses.put'].map(isChecked))).toEqual([
      true,
      true,
      false,
    ]);
    const { mobile_proxy: kept } = await user.call<{ mobile_proxy: string }>('GET', `/channels/${id}/settings`);
    expect(kept).toBe('of another program');
    expect(await pageFaults(page)).toEqual([]);
  }, 60_000);

  it('show a webhook that fails and why, its dead letters, and deliver them again', async () => {
    webhook.answer = () => 503;
    const webhooks = [{ url: webhook.url, events: [{ type: 'messages' }] }];
    await user.call('PATCH', `/channels/${id}/settings`, { webhooks });
    await friend.send(phone.phone, 'too late');
    await open(`/channels/${id}/webhooks`);
    await page.getByText('Your address does not accept events').waitFor();
    for (const change of ['events SET created_at = created_at', 'webhook_cursors SET since = since']) {
      await query('sg', `UPDATE ${change} - interval '73 hours' WHERE channel_id = $1`, [id]);
    }
    await query('sg', "UPDATE webhook_cursors SET next_attempt_at = next_attempt_at - interval '1 hour'");
    await page.getByRole('link', { name: 'Deliveries, dead letters, deliver again' }).click();
    await page.getByRole('button', { name: /Deliver all again/ }).waitFor();
    expect(await pageFaults(page)).toEqual([]);
    webhook.answer = () => 200;
    await page
      .getByLabel(/Choose event/)
      .first()
      .check();
    await page.getByRole('button', { name: 'Deliver the chosen again: 1' }).click();
    await webhook.waitFor('the dead letter', ({ body }) => JSON.stringify(body).includes('too late'));
    await page.getByText('There is none.').waitFor();
    await page.getByText('Accepted').first().waitFor();
  }, 60_000);

  it('show events as they happen, until they are paused, and afterwards all of them', async () => {
    await open(`/channels/${id}/events`);
    await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
    await friend.send(phone.phone, 'one');
    await page.getByText(`${friend.phone}: one`).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await friend.send(phone.phone, 'two');
    await page.getByText(/New: \d/).waitFor();
    expect(await page.getByText(`${friend.phone}: two`).count()).toBe(0);
    expect(await pageFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(`${friend.phone}: two`).waitFor();
  }, 60_000);

  it('have no serious fault on the pages that are for reading and for access', async () => {
    for (const path of ['', '/webhooks', '/access']) {
      await open(`/channels/${id}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect([path, await pageFaults(page)]).toEqual([path, []]);
    }
  }, 60_000);

  it('are found in a list of many, of which only those in view are in the page', async () => {
    const { accounts } = await user.call<{ accounts: { id: string }[] }>('GET', '/accounts');
    const values = [accounts[0]?.id, MANY];
    await query(
      'global',
      `INSERT INTO channels (id, account_id, region, name, unsettled_since, created_at)
       SELECT 'MANY-' || n, $1, 'sg', 'Branch ' || n, NULL, now() - n * interval '1 second' FROM generate_series(1, $2::int) n`,
      values,
    );
    await query(
      'sg',
      `INSERT INTO channels (id, account_id, name, shard)
       SELECT 'MANY-' || n, $1, 'Branch ' || n, 0 FROM generate_series(1, $2::int) n`,
      values,
    );
    await open('/channels');
    await page.getByText(`Channels: ${MANY + 2}`).waitFor();
    expect(await page.getByRole('listitem').count()).toBeLessThan(60);
    expect(await pageFaults(page)).toEqual([]);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.getByText(`MANY-${MANY} `).waitFor();
    await page.getByLabel('Search').fill('branch 777');
    await page.getByRole('link', { name: /Branch 777/ }).click();
    await page.getByRole('heading', { name: 'Branch 777' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: /Branch 777/ }).waitFor();
  }, 60_000);
});

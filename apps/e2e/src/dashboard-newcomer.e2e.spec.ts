import { serveWaitingLogins, shownCodesOf, type ShownCodes } from '@dormouse/stack';
import type { Browser, Locator, Page } from 'playwright-core';
import { pageFaults } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { linkInMail } from './harness/dashboard-user.js';
import { NO_RATE_LIMITS, RunningStack } from './harness/running-stack.js';
import { codeOnScreen } from './harness/screen-code.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

const PASSWORD = 'violet tractor sings 42';
const MOST_CLICKS = 12;
const MOST_TABS = 60;

describeInBrowser('a newcomer', () => {
  let running: RunningStack;
  let browser: Browser;
  let webhook: WebhookReceiver;
  let codes: ShownCodes;
  let page: Page;
  let phone: VirtualPhone;

  beforeAll(async () => {
    const waiting = await serveWaitingLogins();
    const env = { ...NO_RATE_LIMITS, 'network-simulator': { WAITING_LOGINS_URL: waiting.url } };
    running = await RunningStack.start({ billing: true, env });
    const { databases, redis } = running.stack;
    codes = shownCodesOf({ databaseUrl: databases.sg, redisUrl: redis.sg });
    waiting.offerAll(() => codes.list());
    browser = await openBrowser();
    webhook = await WebhookReceiver.start();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await codes?.close();
    await running?.stop();
    await webhook?.close();
  }, 60_000);

  beforeEach(async () => {
    page = await (await browser.newContext()).newPage();
    phone = await running.network.createPhone({ name: 'Nora New' });
  });
  afterEach(() => page.context().close());

  const openLinkInMail = async (email: string): Promise<unknown> =>
    page.goto((await linkInMail({ mailbox: running.stack.urls.mail ?? '' }, email, '/verify-email')).href);

  it('comes from the sign-up form to a message on the phone and a webhook in few clicks, on pages without faults', async () => {
    let clicks = 0;
    const faults: Record<string, string[]> = {};
    const click = async (what: Locator): Promise<void> => {
      clicks += 1;
      await what.click();
    };
    const press = (name: string): Promise<void> => click(page.getByRole('button', { name, exact: true }));
    const look = async (name: string): Promise<void> => void (faults[name] = await pageFaults(page));

    await page.goto(`${running.stack.publicUrl}/sign-up`);
    await page.getByLabel('Your name').fill('Nora');
    await page.getByLabel('E-mail address').fill('nora@example.com');
    await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD);
    await press('Create user');
    clicks += 1;
    await openLinkInMail('nora@example.com');
    await press('Confirm');
    await page.getByLabel('Name of the account').fill('Acme');
    await press('Create account');

    await page.getByRole('heading', { name: 'New channel' }).waitFor();
    await look('new channel');
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await press('Create');
    await codeOnScreen(page);
    await look('first steps');
    const opened = page.waitForEvent('popup');
    await click(page.getByRole('link', { name: 'Open the phones' }));
    const phones = await opened;
    await click(phones.locator(`[data-phone="${phone.phone}"]`).getByRole('button', { name: 'Scan code' }));
    await click(phones.getByRole('button', { name: /^Link Shop/ }));
    // A tab behind another one is drawn once a second.
    await page.bringToFront();
    await page.getByText(`Linked: +${phone.phone} (Nora New)`).waitFor();
    await press('Send');
    await page.getByText('Answer: 200').waitFor();
    await phone.waitFor({ text: 'Hello from Dormouse' });

    await page.getByLabel('Address of your webhook').fill(webhook.url);
    await press('Save');
    await press('Send a test event');
    await page.getByText('Accepted').waitFor();
    await look('first steps, done');
    expect(webhook.calls.map(({ body }) => JSON.stringify(body))).toContainEqual(
      expect.stringContaining('This is a test event.'),
    );
    expect({ faults, clicks: clicks <= MOST_CLICKS ? 'few' : clicks }).toEqual({
      faults: { 'new channel': [], 'first steps': [], 'first steps, done': [] },
      clicks: 'few',
    });
    expect(await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain('dm_');
  }, 120_000);

  it('needs the keyboard alone', async () => {
    const focused = (): Promise<string> =>
      page.evaluate<string>(`(() => {
        const element = document.activeElement;
        const labels = [...(element?.labels ?? [])].map((label) => label.textContent);
        return element?.getAttribute('aria-label') ?? labels[0] ?? (element === document.body ? '' : element?.textContent) ?? '';
      })()`);
    /** Presses Tab until what has this name has the focus. */
    const tabTo = async (name: string): Promise<void> => {
      const passed: string[] = [];
      for (let pressed = 0; pressed < MOST_TABS; pressed++) {
        const found = (await focused()).replace(/\s*\*$/, '');
        if (found === name) return;
        passed.push(found);
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab never came to ${name}, only to ${passed.join(', ')}`);
    };
    const type = async (field: string, text: string): Promise<void> => {
      await tabTo(field);
      await page.keyboard.type(text);
    };
    const press = async (button: string): Promise<void> => {
      await tabTo(button);
      await page.keyboard.press('Enter');
    };

    await page.goto(`${running.stack.publicUrl}/sign-up`);
    await page.getByRole('button', { name: 'Create user' }).waitFor();
    await type('Your name', 'Kim');
    await type('E-mail address', 'kim@example.com');
    await type('New password', PASSWORD);
    await page.keyboard.press('Enter');
    await openLinkInMail('kim@example.com');
    await page.getByRole('button', { name: 'Confirm' }).waitFor();
    await press('Confirm');
    await page.getByRole('heading', { name: 'Name your account' }).waitFor();
    await type('Name of the account', 'Keys only');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New channel' }).waitFor();
    await type('Name', 'Shop');
    await page.keyboard.press('Enter');
    await phone.scan(await codeOnScreen(page));
    await page.getByText(`Linked: +${phone.phone}`).waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await press('Send');
    await page.getByText('Answer: 200').waitFor();
    await phone.waitFor({ text: 'Hello from Dormouse' });
  }, 120_000);
});

import type { Browser, Locator, Page } from 'playwright-core';
import { pageFaults } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { DashboardUser } from './harness/dashboard-user.js';
import { eventually } from './harness/eventually.js';
import { loginCode, RunningStack, untilConnected } from './harness/running-stack.js';
import type { GatewayClient } from './harness/gateway-client.js';
import { SimulatedStripe } from './harness/simulated-stripe.js';

const WORKS = '4242 4242 4242 4242';
const DECLINED = '4000 0000 0000 0002';
const LATER_DECLINED = '4000 0000 0000 0341';
const DAY_S = 86_400;
/** After the end of a period its invoice is final, and its first payment was tried. */
const S_TILL_FINAL = 7_200;
/** The page reads what is open at this interval. */
const READ_INTERVAL_MS = 30_000;

describeInBrowser('what an account pays, at the dashboard', () => {
  let running: RunningStack;
  let browser: Browser;
  let page: Page;
  let user: DashboardUser;
  const numbers: GatewayClient[] = [];

  beforeAll(async () => {
    running = await RunningStack.start({ billing: true });
    browser = await openBrowser();
    const places = { origin: running.stack.publicUrl, mailbox: running.stack.urls.mail ?? '' };
    user = await DashboardUser.create(places, 'pia@example.com');
    const context = await browser.newContext({ baseURL: places.origin, viewport: { width: 1_100, height: 800 } });
    await user.signIn(context);
    page = await context.newPage();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await running?.stop();
  }, 60_000);

  const link = async (name: string): Promise<void> => {
    const { token } = await user.call<{ token: string }>('POST', '/channels', { name });
    const client = running.client(token);
    const phone = await running.network.createPhone({ name });
    await eventually(async () => phone.scan(await loginCode(client)), { what: `${name} is linked` });
    await untilConnected(client);
    numbers.push(client);
  };
  const untilStatuses = (expected: number[]): Promise<unknown> =>
    eventually(
      async () => {
        const friend = await running.network.createPhone({ name: 'Fred' });
        const sends = numbers.map((client) => client.post('/messages/text', { to: friend.phone, body: 'hello' }));
        const found = (await Promise.all(sends)).map(({ status }) => status);
        if (found.join() === expected.join()) return true;
        throw new Error(`statuses are ${found.join()}`);
      },
      { what: `sends answer ${expected.join()}`, withinMs: 30_000 },
    );
  const pick = async (card: string, button: string): Promise<void> => {
    await page.getByText(card).click();
    await page.getByRole('button', { name: button }).click();
  };
  /** Lets one interval after the other pass on the page's clock until it shows this, or shows it no more. */
  const untilRead = (what: Locator, state: 'visible' | 'detached' = 'visible'): Promise<unknown> =>
    eventually(
      async () => {
        await page.clock.fastForward(READ_INTERVAL_MS);
        await what.waitFor({ state, timeout: 1_000 });
        return true;
      },
      { what: `the page reads that it is ${state}` },
    );

  it('is told of the second number that has no place, number by number, and buys it: declined, then paid', async () => {
    await link('First');
    await link('Second');
    await untilStatuses([200, 402]);
    await page.goto('/billing');
    await page.getByText('You have more numbers than places').waitFor();
    await page.getByText('There is no place left for it').waitFor();
    await page.getByText('One of the free numbers.').waitFor();
    expect(await pageFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Go to payment' }).click();
    await pick(DECLINED, 'Subscribe');
    await page.getByRole('alert').waitFor();
    await pick(WORKS, 'Subscribe');
    await page.getByText('Thank you. Your numbers are paid for.').waitFor();
    await untilStatuses([200, 200]);
    await page.getByText('Covered by what you bought.').waitFor();
    await page.getByText('You have more numbers than places').waitFor({ state: 'detached' });
    await page.getByText(/One number more costs \$/).waitFor();
    expect(await pageFaults(page)).toEqual([]);
  }, 120_000);

  it('raises the limit for the exact amount that is shown', async () => {
    await page.goto('/billing');
    await page.getByRole('textbox', { name: 'How many may be bought in all' }).fill('2');
    await page.getByRole('button', { name: 'Show what it costs' }).click();
    await page.getByText(/If 2 numbers are used now, \$\d/).waitFor();
    await page.getByRole('button', { name: 'Set this limit' }).click();
    await page.getByText('The limit is set.').waitFor();
    await page.getByText('Up to 2 numbers are bought').waitFor();
  }, 60_000);

  it('sees the banner of a renewal that failed, then what is refused after the grace, and pays in the portal: all is served', async () => {
    const stripe = new SimulatedStripe(running.stack);
    await page.goto('/billing');
    await page.getByRole('button', { name: 'Card, tax id and cancellation' }).click();
    await pick(LATER_DECLINED, 'Replace card');
    await stripe.untilDefaultCard();
    await stripe.control('PATCH', '/settings', {
      collection: { retryAfterSeconds: [DAY_S], afterLastRetry: 'unpaid' },
    });
    const { period_end: periodEnd } = await user.call<{ period_end: number }>('GET', '/billing');
    const advanceSeconds = Math.ceil(periodEnd - Date.now() / 1_000) + S_TILL_FINAL;
    await stripe.control('POST', '/clock', { advanceSeconds });
    await page.clock.install();
    await page.goto('/account');
    await untilRead(page.getByText('Your card was declined'));
    await untilStatuses([200, 200]);
    await stripe.control('POST', '/clock', { advanceSeconds: 5 * DAY_S });
    await untilStatuses([200, 402]);
    const refused = page.getByText('Numbers are refused, because a payment is open');
    await untilRead(refused);
    expect(await pageFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Pay now' }).click();
    await pick(WORKS, 'Pay');
    await untilStatuses([200, 200]);
    await page.goto('/billing');
    await page.getByText('Covered by what you bought.').waitFor();
    await untilRead(refused, 'detached');
  }, 180_000);
});

import type { Browser, Page } from 'playwright-core';
import pg from 'pg';
import { pageFaults } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { eventually } from './harness/eventually.js';
import { loginCode, RunningStack, untilConnected, type LinkedChannel } from './harness/running-stack.js';
import { SimulatedStripe } from './harness/simulated-stripe.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver } from './harness/webhook-receiver.js';

interface BillingRecord {
  plan: string;
  status: string | null;
  numbers: number;
  bought: number;
  open: { kind: string; amount: number; url: string }[];
}

const WORKS = '4242 4242 4242 4242';
const DECLINED = '4000 0000 0000 0002';
const LATER_DECLINED = '4000 0000 0000 0341';
const DAY_S = 86_400;

describeInBrowser('an account that buys numbers', () => {
  let running: RunningStack;
  let browser: Browser;
  let page: Page;
  let friend: VirtualPhone;
  let webhook: WebhookReceiver;
  const numbers: LinkedChannel[] = [];

  beforeAll(async () => {
    running = await RunningStack.start({ billing: true });
    browser = await openBrowser();
    page = await browser.newPage();
    friend = await running.network.createPhone({ name: 'Fred Friend' });
    webhook = await WebhookReceiver.start();
    // The first account has a gift of free numbers, for journeys that are not about money.
    const database = new pg.Client({ connectionString: running.stack.databases.global });
    await database.connect();
    await database.query('DELETE FROM free_number_gifts');
    await database.end();
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await running.stop();
    await webhook.close();
  }, 60_000);

  const billing = async (): Promise<BillingRecord> =>
    (await running.management.call<BillingRecord>('GET', '/billing')).body;

  const statusOf = async ({ client }: LinkedChannel): Promise<number> =>
    (await client.post('/messages/text', { to: friend.phone, body: 'hello' })).status;

  const untilStatuses = (expected: number[]): Promise<unknown> =>
    eventually(
      async () => {
        const found = await Promise.all(numbers.map(statusOf));
        if (found.join() === expected.join()) return true;
        throw new Error(`statuses are ${found.join()}`);
      },
      { what: `sends answer ${expected.join()}`, withinMs: 30_000 },
    );

  const link = async (): Promise<void> => {
    numbers.push(await running.createLinkedChannel(`number ${numbers.length + 1}`));
  };

  const post = async <Answer>(path: string, body: object = {}): Promise<Answer> => {
    const { status, body: answer } = await running.management.call<Answer>('POST', path, body);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };

  /** Picks a card on the page that is open, and presses a button. */
  const pick = async (card: string, button: string): Promise<void> => {
    await page.getByText(card).click();
    await page.getByRole('button', { name: button }).click();
  };

  const stripe = (): SimulatedStripe => new SimulatedStripe(running.stack);

  /** A number whose messages are received by webhook, and which is linked when this resolves. */
  const linkReporting = async (): Promise<void> => {
    const { id, client } = await running.createChannel('reporting');
    const webhooks = [{ url: webhook.url, mode: 'path', events: [{ type: 'messages', method: 'post' }] }];
    expect((await client.request('PATCH', '/settings', { body: { webhooks } })).status).toBe(200);
    const phone = await running.network.createPhone({ name: 'Second' });
    const { device } = await eventually(async () => phone.scan(await loginCode(client)), { what: 'it is linked' });
    await untilConnected(client);
    numbers.push({ id, client, phone, device });
  };

  it('gets 402 at the edge after the link of the second number, which keeps its session and its webhooks', async () => {
    await link();
    await untilStatuses([200]);
    await linkReporting();
    const second = numbers[1]!;
    const refused = await eventually(
      async () => {
        const answer = await second.client.post('/messages/text', { to: friend.phone, body: 'hello' });
        return answer.status === 402 ? answer : undefined;
      },
      { what: 'a send is refused', withinMs: 30_000 },
    );
    expect(refused.body).toMatchObject({ error: { code: 402, details: expect.stringContaining('free') as string } });
    expect(await statusOf(numbers[0]!)).toBe(200);
    await eventually(async () => (await billing()).numbers === 2, { what: 'billing has both numbers' });
    expect(await billing()).toMatchObject({ plan: 'free', bought: 0 });
    const { body } = await second.client.get<{ status: { text: string } }>('/health');
    expect(body.status.text).toBe('connected');
    await friend.send(second.phone.phone, 'are you there?');
    await webhook.waitFor('what a refused number receives', ({ body: call }) =>
      JSON.stringify(call).includes('are you there?'),
    );
  }, 90_000);

  it('is declined on the hosted page, pays there with another card, and both numbers are served', async () => {
    const { url } = await post<{ url: string }>('/billing/checkout');
    expect((await post<{ url: string }>('/billing/checkout')).url).toBe(url);
    await page.goto(url);
    await pick(DECLINED, 'Subscribe');
    await page.getByRole('alert').waitFor();
    expect(await pageFaults(page)).toEqual([]);
    expect(await statusOf(numbers[1]!)).toBe(402);
    await pick(WORKS, 'Subscribe');
    await untilStatuses([200, 200]);
    expect(await billing()).toMatchObject({ plan: 'paid', status: 'active', bought: 1 });
    expect((await running.management.call('POST', '/billing/checkout', {})).status).toBe(409);
  }, 90_000);

  it('adds a third over the API, for the amount that was shown, with the card on file', async () => {
    await link();
    await untilStatuses([200, 200, 402]);
    const { preview, amount } = await post<{ preview: string; amount: number }>('/billing/preview', { numbers: 2 });
    const changed = await running.management.call<BillingRecord>('PATCH', '/billing', { limit: 2, preview });
    expect([changed.status, changed.body]).toMatchObject([200, { bought: 2, open: [] }]);
    await untilStatuses([200, 200, 200]);
    const { body } = await running.management.call<{ invoices: { amount: number }[] }>('GET', '/billing/invoices');
    expect(body.invoices.map((invoice) => invoice.amount)).toEqual([amount, 400]);
  }, 90_000);

  it('deletes a number and creates another one within the period for not a cent', async () => {
    const [last] = numbers.splice(2, 1);
    expect(await running.management.deleteChannel(last!.id)).toBe(200);
    await eventually(async () => (await billing()).numbers === 2, { what: 'the number does not count any more' });
    await link();
    await eventually(async () => (await billing()).numbers === 3, { what: 'the new number counts' });
    await untilStatuses([200, 200, 200]);
    expect(await billing()).toMatchObject({ bought: 2, open: [] });
    const { body } = await running.management.call<{ invoices: unknown[] }>('GET', '/billing/invoices');
    expect(body.invoices).toHaveLength(2);
  }, 90_000);

  it('has all but the first number stopped when a renewal fails for good, and served after paying, without a scan', async () => {
    const portal = await post<{ url: string }>('/billing/portal');
    await page.goto(portal.url);
    expect(await pageFaults(page)).toEqual([]);
    await pick(LATER_DECLINED, 'Replace card');
    await stripe().untilDefaultCard();
    await stripe().control('PATCH', '/settings', {
      collection: { retryAfterSeconds: [DAY_S], afterLastRetry: 'unpaid' },
    });
    await stripe().control('POST', '/clock', { advanceSeconds: 35 * DAY_S });
    await untilStatuses([200, 402, 402]);
    const { open } = await billing();
    expect(open).toMatchObject([{ kind: 'renewal', amount: 800 }]);
    await page.goto(open[0]!.url);
    expect(await pageFaults(page)).toEqual([]);
    await pick(WORKS, 'Pay');
    await untilStatuses([200, 200, 200]);
  }, 90_000);

  it('reads its mail on pages without serious findings of axe that fit a phone, as those of the payments do', async () => {
    const { publicUrl, urls } = running.stack;
    const mailbox = urls.mail ?? '';
    const person = { name: 'Pat', email: 'pat@example.com', password: 'violet tractor sings 42' };
    const headers = { 'content-type': 'application/json' };
    await fetch(`${publicUrl}/api/v1/auth/sign-up`, { method: 'POST', headers, body: JSON.stringify(person) });
    const { id } = (await (await fetch(`${mailbox}/mails/next`)).json()) as { id: number };
    // The list would load itself again for the next mail.
    await page.route('**/page.js', (route) => route.abort());
    for (const path of ['/', `/view/${id}`]) {
      await page.goto(`${mailbox}${path}`);
      expect([path, await pageFaults(page)]).toEqual([path, []]);
    }
  }, 60_000);

  it('cancels in the portal, is served until the period ends, and then has its first number', async () => {
    await page.goto((await post<{ url: string }>('/billing/portal')).url);
    await page.getByRole('button', { name: 'Cancel subscription' }).click();
    await page.getByText(/Ends on/).waitFor();
    await untilStatuses([200, 200, 200]);
    await stripe().control('POST', '/clock', { advanceSeconds: 40 * DAY_S });
    await untilStatuses([200, 402, 402]);
    expect(await billing()).toMatchObject({ plan: 'free', status: 'canceled' });
  }, 90_000);

  it('deletes its first number: the next one takes the free place, and is served without a scan', async () => {
    const [first] = numbers.splice(0, 1);
    expect(await running.management.deleteChannel(first!.id)).toBe(200);
    await untilStatuses([200, 402]);
    const { body } = await numbers[0]!.client.get<{ status: { text: string } }>('/health');
    expect(body.status.text).toBe('connected');
    expect(await numbers[0]!.phone.devices()).toMatchObject([{ device: numbers[0]!.device, online: true }]);
  }, 90_000);
});

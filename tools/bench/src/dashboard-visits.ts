/** What a visitor waits for in the dashboard, in a real browser with an empty cache. */
import type { Stack } from '@dormouse/stack';
import pg from 'pg';
import type { Browser, Locator, Page } from 'playwright-core';
import { progress } from './bench-stack.js';
import type { World } from './world.js';

const PASSWORD = 'violet tractor sings 42';
const POLL_MS = 25;

export interface FirstPage {
  /** Script as it was sent, compressed. */
  scriptBytes: number;
  /** Until the form of the sign-in takes input. */
  usableMs: number;
}

export interface Newcomer {
  codeOnScreenMs: number;
  linkedShownMs: number;
  seconds: number;
  clicks: number;
  channelId: string;
  phone: string;
}

export async function visitFirstPage(browser: Browser, origin: string): Promise<FirstPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() !== 'script') return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  const startedMs = performance.now();
  await page.goto(`${origin}/sign-in`, { waitUntil: 'commit' });
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('ann@example.com');
  const usableMs = performance.now() - startedMs;
  await page.waitForLoadState('networkidle');
  const scriptBytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await context.close();
  return { scriptBytes, usableMs };
}

/** From the sign-up form to the message on the phone, as a person with a phone, a mailbox and a mouse. */
export async function visitAsNewcomer(page: Page, stack: Stack, world: World): Promise<Newcomer> {
  let clicks = 0;
  const click = async (what: Locator): Promise<void> => {
    clicks += 1;
    await what.click();
  };
  const press = (name: string): Promise<void> => click(page.getByRole('button', { name, exact: true }));
  const email = `newcomer-${Date.now()}@example.com`;
  const phone = await world.newPhone();
  await page.goto(`${stack.publicUrl}/sign-up`);
  await page.getByLabel('Your name').waitFor();
  const startedMs = performance.now();
  await page.getByLabel('Your name').fill('Nora');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD);
  await press('Create user');
  clicks += 1;
  await page.goto(await linkInMail(stack.urls.mail ?? '', email));
  await press('Confirm');
  await page.getByLabel('Name of the account').fill('Acme');
  await press('Create account');
  await page.getByLabel('Name', { exact: true }).fill('Shop');
  const createdMs = performance.now();
  await press('Create');
  await page.getByRole('img', { name: 'Code to scan with your phone' }).waitFor();
  const codeOnScreenMs = performance.now() - createdMs;
  const opened = page.waitForEvent('popup');
  await click(page.getByRole('link', { name: 'Open the phones' }));
  const phones = await opened;
  await click(phones.locator(`[data-phone="${phone}"]`).getByRole('button', { name: 'Scan code' }));
  const link = phones.getByRole('button', { name: /^Link Shop/ });
  await link.waitFor();
  const scannedMs = performance.now();
  await click(link);
  await page.getByText(`Linked: +${phone}`).waitFor();
  const linkedShownMs = performance.now() - scannedMs;
  await press('Send');
  await world.untilReceived(phone, 'Hello from Dormouse');
  const seconds = (performance.now() - startedMs) / 1_000;
  await phones.close();
  const channelId = /channels\/([^/]+)/.exec(page.url())?.[1] ?? '';
  return { codeOnScreenMs, linkedShownMs, seconds, clicks, channelId, phone };
}

async function linkInMail(mailbox: string, to: string): Promise<string> {
  for (;;) {
    const listed = (await (await fetch(`${mailbox}/mails?to=${encodeURIComponent(to)}`)).json()) as { id: number }[];
    for (const { id } of listed) {
      const { links } = (await (await fetch(`${mailbox}/mails/${id}`)).json()) as { links: string[] };
      const link = links.find((each) => new URL(each).pathname === '/verify-email');
      if (link !== undefined) return link;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** So many channels beside those of the page's account, without numbers. */
export async function addChannels(stack: Stack, channelId: string, count: number): Promise<void> {
  progress(`adding ${count} channels`);
  const run = async (url: string, text: string, values: unknown[]): Promise<pg.QueryResult> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client.query(text, values).finally(() => client.end());
  };
  const { rows } = await run(stack.databases.global, 'SELECT account_id FROM channels WHERE id = $1', [channelId]);
  const values = [(rows as { account_id: string }[])[0]?.account_id, count];
  await run(
    stack.databases.global,
    `INSERT INTO channels (id, account_id, region, name, unsettled_since, created_at)
     SELECT 'MANY-' || n, $1, 'sg', 'Branch ' || n, NULL, now() - n * interval '1 second' FROM generate_series(1, $2::int) n`,
    values,
  );
  await run(
    stack.databases.sg,
    `INSERT INTO channels (id, account_id, name, shard)
     SELECT 'MANY-' || n, $1, 'Branch ' || n, 0 FROM generate_series(1, $2::int) n`,
    values,
  );
}

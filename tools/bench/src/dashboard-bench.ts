/**
 * How long visitors of the dashboard wait, in a real browser on the machine of the stack; the goals stand beside the figures.
 */
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { serveWaitingLogins, shownCodesOf } from '@dormouse/stack';
import { chromium, type Browser } from 'playwright-core';
import { NO_RATE_LIMITS, onStack, progress } from './bench-stack.js';
import { visitLiveEvents, visitLongList, type LiveEvents, type LongList } from './dashboard-smoothness.js';
import { addChannels, visitAsNewcomer, visitFirstPage, type FirstPage, type Newcomer } from './dashboard-visits.js';
import { printTable } from './table.js';
import { World } from './world.js';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
const MANY = 5_000;

export async function benchDashboard(): Promise<void> {
  const executablePath = BROWSERS.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error(`no browser is installed: one of ${BROWSERS.join(', ')} is needed`);
  const waiting = await serveWaitingLogins();
  const env = { 'edge-api': NO_RATE_LIMITS, 'network-simulator': { WAITING_LOGINS_URL: waiting.url } };
  await onStack({ billing: true, env }, async (stack) => {
    const codes = shownCodesOf({ databaseUrl: stack.databases.sg, redisUrl: stack.redis.sg });
    waiting.offerAll(() => codes.list());
    const browser: Browser = await chromium.launch({ executablePath, args: FLAGS });
    try {
      const world = new World(stack);
      const origin = stack.publicUrl;
      // The first start of a browser reads it from the disk.
      await visitFirstPage(browser, origin);
      const first = await visitFirstPage(browser, origin);
      const page = await (await browser.newContext({ viewport: { width: 1_280, height: 900 } })).newPage();
      progress('a newcomer');
      const newcomer = await visitAsNewcomer(page, stack, world);
      await addChannels(stack, newcomer.channelId, MANY);
      const list = await visitLongList(page, origin, MANY + 1);
      const live = await visitLiveEvents(page, world, { origin, ...newcomer });
      report(first, newcomer, list, live);
    } finally {
      await browser.close();
      await codes.close();
    }
  });
  console.log(`Load of the machine: ${loadavg()[0]?.toFixed(1)}`);
}

function report(first: FirstPage, newcomer: Newcomer, list: LongList, live: LiveEvents): void {
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  printTable([
    ['', 'measured', 'goal'],
    ['first page, script compressed', `${(first.scriptBytes / 1_000).toFixed(0)} kB`, '250 kB'],
    ['first page, usable after', ms(first.usableMs), '1500 ms'],
    ['code on screen after Create', ms(newcomer.codeOnScreenMs), '1500 ms'],
    ['linked shown after the scan', ms(newcomer.linkedShownMs), '1000 ms'],
    ['newcomer, from sign-up form to message on the phone', `${newcomer.seconds.toFixed(1)} s`, '20 s'],
    ['newcomer, clicks', String(newcomer.clicks), '12'],
    [`list of ${MANY} channels opens in`, ms(list.opensMs), '1000 ms'],
    ['a page of 500 of them, p50 / p95', `${ms(list.pages.p50Ms)} / ${ms(list.pages.p95Ms)}`, 'p50 100 ms'],
    ['frames while it scrolls, p50 / p95', `${ms(list.frames.p50Ms)} / ${ms(list.frames.p95Ms)}`, 'smooth'],
    ['live events, sent / rows shown', `${live.sent} / ${live.shown}`, 'the newest 200'],
    ['keys meanwhile, pressed / received', `${live.keysSent} / ${live.keysReceived}`, 'none dropped'],
    ['key until drawn, p50 / p95', `${ms(live.input.p50Ms)} / ${ms(live.input.p95Ms)}`, ''],
  ]);
}

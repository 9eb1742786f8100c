/** Whether pages of the dashboard stay quick: frames while a long list scrolls, input while events arrive. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { progress } from './bench-stack.js';
import { summarize, type Summary } from './latencies.js';
import type { World } from './world.js';

const WHEEL_TURNS = 60;
const WHEEL_PX = 600;
const TURN_EVERY_MS = 50;
const PAGES = 50;
const EVENTS_PER_MINUTE = 500;
const LIVE_S = 30;
const KEY_EVERY_MS = 250;

export interface LongList {
  opensMs: number;
  /** Between two frames while it scrolls. */
  frames: Summary;
  /** A page of 500 of it from the management API. */
  pages: Summary;
}

export interface LiveEvents {
  sent: number;
  shown: number;
  keysSent: number;
  keysReceived: number;
  /** From a key press until the page has drawn what follows, by the browser's Event Timing; 8 ms is its resolution. */
  input: Summary;
}

export async function visitLongList(page: Page, origin: string, total: number): Promise<LongList> {
  progress(`a list of ${total} channels`);
  const startedMs = performance.now();
  await page.goto(`${origin}/channels`, { waitUntil: 'commit' });
  await page.getByText(`Channels: ${total}`).waitFor();
  await page.getByRole('listitem').first().getByRole('link').waitFor();
  const opensMs = performance.now() - startedMs;
  await page.evaluate(`
    globalThis.frames = [];
    let last = performance.now();
    const frame = (now) => { globalThis.frames.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  `);
  await page.mouse.move(600, 500);
  for (let turn = 0; turn < WHEEL_TURNS; turn++) {
    await page.mouse.wheel(0, WHEEL_PX);
    await delay(TURN_EVERY_MS);
  }
  const frames = await page.evaluate<number[]>('globalThis.frames');
  return { opensMs, frames: summarize(frames, performance.now() - startedMs), pages: await readPages(page, origin) };
}

async function readPages(page: Page, origin: string): Promise<Summary> {
  const latenciesMs: number[] = [];
  const beganMs = performance.now();
  for (let turn = 0; turn < PAGES; turn++) {
    const startedMs = performance.now();
    const answer = await page.request.get(`${origin}/api/v1/channels?count=500&offset=2000`);
    const { channels } = (await answer.json()) as { channels?: unknown[] };
    latenciesMs.push(performance.now() - startedMs);
    if (channels?.length !== 500) throw new Error(`a page of channels: ${answer.status()}`);
  }
  return summarize(latenciesMs, performance.now() - beganMs);
}

/** Events at a steady rate on the live page, and key presses meanwhile. */
export async function visitLiveEvents(
  page: Page,
  world: World,
  { origin, channelId, phone }: { origin: string; channelId: string; phone: string },
): Promise<LiveEvents> {
  progress(`${EVENTS_PER_MINUTE} events a minute, live`);
  const friend = await world.newPhone();
  await page.goto(`${origin}/channels/${channelId}/events`);
  await page.getByRole('status').getByText('Live', { exact: true }).waitFor();
  await page.evaluate(`
    globalThis.inputs = [];
    globalThis.keys = 0;
    addEventListener('keydown', () => { globalThis.keys += 1; }, true);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'keydown') globalThis.inputs.push(entry.duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: false });
  `);
  const sent = Math.round((EVENTS_PER_MINUTE / 60) * LIVE_S);
  let isSending = true;
  const pressing = (async (): Promise<number> => {
    let pressed = 0;
    for (; isSending; pressed++) {
      await page.keyboard.press('Tab');
      await delay(KEY_EVERY_MS);
    }
    return pressed;
  })();
  const sending: Promise<unknown>[] = [];
  for (let n = 0; n < sent; n++) {
    sending.push(world.sendFromPhone(friend, phone, `live ${n}`));
    await delay(60_000 / EVENTS_PER_MINUTE);
  }
  await Promise.all(sending);
  await page.getByText(`${friend}: live ${sent - 1}`, { exact: true }).waitFor();
  isSending = false;
  const keysSent = await pressing;
  const { keys, inputs } = await page.evaluate<{ keys: number; inputs: number[] }>(
    '({ keys: globalThis.keys, inputs: globalThis.inputs })',
  );
  const shown = await page.getByRole('listitem').count();
  // What the browser does not list took less than 16 ms.
  const quick = Array.from({ length: Math.max(0, keys - inputs.length) }, () => 16);
  return { sent, shown, keysSent, keysReceived: keys, input: summarize([...inputs, ...quick], LIVE_S * 1_000) };
}

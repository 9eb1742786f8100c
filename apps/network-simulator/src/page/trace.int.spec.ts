import type { Browser, Locator, Page } from 'playwright-core';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { Client } from '../scenarios/client.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { describeInBrowser, openBrowser } from './test-browser.js';

jest.setTimeout(120_000);
quietLibsignal();

const ALICE = '6591110001';
const NOT_LOGGED_IN = 'A client that is not logged in';

describeInBrowser('the trace on the page', () => {
  let simulator: Simulator;
  let browser: Browser;
  let page: Page;
  let bob: Phone;
  let client: Client;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    network.accounts.add(ALICE, 'Alice Tan');
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator);
    await client.link((qr) =>
      fetch(`${simulator.control}/phones/${ALICE}/scan`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ qr }),
      }),
    );
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await client.end();
    await simulator.stop();
  });

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(simulator.control);
    await chip().waitFor();
  });
  afterEach(() => page.close());

  const chip = (): Locator => page.getByRole('button', { name: 'Trace device 1' });
  const button = (): Locator => page.getByRole('button', { name: 'Trace', exact: true });
  const panel = (): Locator => page.getByRole('region', { name: 'Trace' });
  const rows = (...texts: string[]): Locator =>
    texts.reduce((found, hasText) => found.filter({ hasText }), panel().locator('.stanzas > li'));
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');

  it('shows a message as it passes, decrypted, and the receipt of the client', async () => {
    await button().click();
    await rows(NOT_LOGGED_IN).first().waitFor();
    const { id } = await bob.sendText(ALICE, 'seen in the trace');
    await client.text('seen in the trace');
    const message = rows('"tag": "message"', `"id":"${id}"`);
    expect(await message.locator('.head').textContent()).toMatch(
      /\d\d:\d\d:\d\d.*out.*Alice Tan \+6591110001, device 1, connection \d+/,
    );
    const text = message.getByText('"conversation": "seen in the trace"');
    await message.getByText('Decrypted content').waitFor();
    expect(await text.isVisible()).toBe(false);
    await message.getByText('Decrypted content').click();
    await text.waitFor();
    const receipt = rows('"tag": "receipt"', `"id":"${id}"`).first();
    await receipt.waitFor();
    expect(await receipt.locator('.head strong').textContent()).toBe('in');
    // What was opened stays open while more comes.
    await bob.sendText(ALICE, 'one more');
    await rows('one more').waitFor();
    expect(await text.isVisible()).toBe(true);
  });

  it('shows one device, a phone, or what has a text in it', async () => {
    await button().click();
    await rows(NOT_LOGGED_IN).first().waitFor();
    await chip().click();
    const whom = panel().getByRole('combobox', { name: 'Of' });
    expect(await whom.locator('option:checked').textContent()).toBe('Alice Tan +6591110001, device 1');
    await rows('device 1').first().waitFor();
    expect(await rows(NOT_LOGGED_IN).count()).toBe(0);
    await whom.selectOption('Bob +6591110002');
    await panel().getByText('No stanza fits.').waitFor();
    await whom.selectOption('All connections');
    await rows(NOT_LOGGED_IN).first().waitFor();
    await bob.sendText(ALICE, 'a needle');
    await client.text('a needle');
    await panel().getByLabel('With the text').fill('A NEEDLE');
    await panel().getByText('1 stanza.').waitFor();
    expect(await rows('"conversation": "a needle"').count()).toBe(1);
  });

  it('requests nothing any more once it is closed', async () => {
    await page.clock.install();
    await page.reload();
    let requests = 0;
    page.on('request', (request) => {
      if (request.url().includes('/trace?')) requests++;
    });
    await button().click();
    await rows('device 1').first().waitFor();
    const next = page.waitForRequest(/\/trace\?/);
    await page.clock.runFor(1000);
    await (await next).response();
    await panel().getByRole('button', { name: 'Close the trace' }).click();
    await panel().waitFor({ state: 'hidden' });
    const before = requests;
    await page.clock.runFor(10_000);
    expect(requests).toBe(before);
  });

  it('is used by the keyboard alone, on a phone, in light and dark', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await bob.sendText(ALICE, 'read by keyboard');
    await button().focus();
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Trace');
    await rows('device 1').first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('the rest:');
    await panel().getByText('No stanza fits.').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('conversation');
    await rows('conversation').first().waitFor();
    for (const stop of ['Close', '{"tag": "message"', 'Decrypted content']) {
      await page.keyboard.press('Tab');
      expect(await focused()).toContain(stop);
    }
    const opened = panel().locator('details[open]');
    expect(await opened.count()).toBe(0);
    await page.keyboard.press('Enter');
    await opened.waitFor();
    const widths = await page.evaluate(() =>
      [document.documentElement, document.querySelector('.stanzas')].map((element) => [
        element?.scrollWidth,
        element?.clientWidth,
      ]),
    );
    for (const [content, visible] of widths) expect(content).toBe(visible);
    const grounds = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      grounds.push(await panel().evaluate((element) => getComputedStyle(element).backgroundColor));
    }
    expect(new Set(grounds).size).toBe(2);
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'hidden' });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('trace');
    expect(await button().getAttribute('aria-expanded')).toBe('false');
  });

  it('shows the last 200 of a long trace, and finds what is further back', async () => {
    // Acknowledgements of nothing: they pass, and have no effect.
    for (let count = 1; count <= 1500; count++) {
      await client.socket.sendNode({ tag: 'ack', attrs: { id: `stanza-${count}-`, class: 'receipt' } });
    }
    await button().click();
    await rows('stanza-1500-').waitFor();
    expect(await rows().count()).toBe(200);
    await panel().getByText('The last 200 of 1000 stanzas.').waitFor();
    const list = panel().getByRole('list', { name: 'Stanzas' });
    expect(await list.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight)).toBeLessThan(2);
    await panel().getByLabel('With the text').fill('stanza-700-');
    await rows('stanza-700-').waitFor();
    expect(await rows().count()).toBe(1);
  });

  it('follows a network that was reset', async () => {
    await button().click();
    await rows().first().waitFor();
    const oldest = panel().locator(`[data-seq="${await rows().first().getAttribute('data-seq')}"]`);
    simulator.network.trace.clear();
    await oldest.waitFor({ state: 'detached' });
    await bob.sendText(ALICE, 'after it was emptied');
    await rows('after it was emptied').waitFor();
  });
});

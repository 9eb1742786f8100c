import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { Client } from '../scenarios/client.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { describeInBrowser, openBrowser } from './test-browser.js';

jest.setTimeout(120_000);
quietLibsignal();

const MOST_TABS = 80;

describeInBrowser('the page by the keyboard alone', () => {
  let waiting: { name: string; code: string }[] = [];
  let list: Server;
  let simulator: Simulator;
  let browser: Browser;
  let page: Page;
  let alice: Phone;
  let bob: Phone;
  let client: Client;

  beforeAll(async () => {
    list = createServer((_request, response) => response.end(JSON.stringify(waiting))).listen(0, '127.0.0.1');
    await once(list, 'listening');
    const { port } = list.address() as AddressInfo;
    simulator = await startSimulator({ waitingLoginsUrl: `http://127.0.0.1:${port}/` });
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator);
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 850 } });
    await page.goto(simulator.control);
    await page.locator('[data-phone="6591110002"]').getByText('No linked devices').waitFor();
  });

  afterAll(async () => {
    await browser.close();
    await client.end();
    await simulator.stop();
    list.close();
  });

  /** What has the focus: its name, its place for the focus, and whether one can see that it has it. */
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const { top, bottom } = element.getBoundingClientRect();
      return {
        name: element.getAttribute('aria-label') ?? element.textContent ?? '',
        place: element.dataset['focus'],
        seen: outlineStyle !== 'none' && outlineWidth !== '0px' && bottom > 0 && top < innerHeight,
      };
    });

  /** While a dialog is open nothing else can have the focus. */
  const dialogClosed = () => page.getByRole('dialog').waitFor({ state: 'detached' });

  /** Presses Tab until something of this name or place has the focus, which must be seen at every stop. */
  async function tabTo(wanted: string): Promise<void> {
    const passed: string[] = [];
    for (let pressed = 0; pressed < MOST_TABS; pressed++) {
      await page.keyboard.press('Tab');
      const { name, place, seen } = await focused();
      if (name === wanted || place === wanted) {
        expect({ name, seen }).toEqual({ name, seen: true });
        return;
      }
      passed.push(name);
    }
    throw new Error(`Tab never came to ${wanted}, only to ${passed.join(', ')}.`);
  }

  it('links a login that waits, picked from the list', async () => {
    waiting = [
      { name: 'Shop', code: 'not this one' },
      { name: 'Support', code: await client.code() },
    ];
    const closed = client.closed();
    await tabTo('6591110001 Scan code');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Link Support' }).waitFor();
    await tabTo('Link Support');
    await page.keyboard.press('Enter');
    await closed;
    await client.connect();
    expect(client.jid).toBe('6591110001:1@s.whatsapp.net');
    await page.locator('[data-phone="6591110001"]').getByText('Device 1').waitFor();
    await dialogClosed();
    expect((await focused()).place).toBe('6591110001 Scan code');
  });

  it('opens a chat, writes, and reads the answer', async () => {
    await tabTo('6591110002 New chat');
    await page.keyboard.press('Enter');
    await page.keyboard.type('6591110001');
    await page.keyboard.press('Enter');
    const column = page.locator('[data-phone="6591110002"]');
    await column.getByRole('heading', { name: '+6591110001' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Message');
    await page.keyboard.type('written without a mouse');
    await page.keyboard.press('Enter');
    await client.text('written without a mouse');
    await client.send('6591110002@s.whatsapp.net', { text: 'one' });
    await client.send('6591110002@s.whatsapp.net', { text: 'two' });
    await column.locator('.bubble', { hasText: 'two' }).waitFor();
    expect((await focused()).name).toBe('Message');
  });

  it('reacts to a message reached with the arrow keys, and keeps its place', async () => {
    const one = bob.messages.all({ text: 'one' })[0];
    await tabTo('Act on: two');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toMatchObject({ name: 'Act on: one', seen: true });
    await page.keyboard.press('Enter');
    expect((await focused()).name).toBe('React 👍');
    await tabTo('React ❤️');
    await page.keyboard.press('Enter');
    await client.until(
      () =>
        client
          .eventsOf('messages.reaction')
          .flat()
          .some(({ key, reaction }) => key.id === one?.id && reaction.text === '❤️'),
      'the reaction',
    );
    await page.locator('[data-phone="6591110002"]').getByText('❤️').waitFor();
    expect((await focused()).name).toBe('Act on: one');
  });

  it('edits an own message in its field', async () => {
    const column = page.locator('[data-phone="6591110002"]');
    await page.keyboard.press('Home');
    expect((await focused()).name).toBe('Act on: written without a mouse');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('edited without a mouse');
    await page.keyboard.press('Enter');
    await column.locator('.bubble', { hasText: 'edited without a mouse' }).waitFor();
    await alice.wait({ text: 'edited without a mouse' }, 5000);
    expect(alice.messages.all({ text: 'edited without a mouse' })[0]).toMatchObject({ edited: true });
  });

  it('switches a fault on and off', async () => {
    await tabTo('Faults');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Switch on' }).waitFor();
    await tabTo('Fault');
    const what = page.getByLabel('Fault', { exact: true });
    while ((await what.locator('option:checked').textContent()) !== 'Hold acknowledgements') {
      await page.keyboard.press('ArrowDown');
    }
    await tabTo('Switch on');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'End: Hold acknowledgements' }).waitFor();
    expect(simulator.network.faults.all()).toMatchObject([{ kind: 'hold-acks' }]);
    await tabTo('End: Hold acknowledgements');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'End: Hold acknowledgements' }).waitFor({ state: 'detached' });
    expect(simulator.network.faults.all()).toEqual([]);
    expect((await focused()).name).toBe('Switch on');
  });

  it('votes in a poll, and keeps its place among the options', async () => {
    const poll = await client.send('6591110002@s.whatsapp.net', {
      poll: { name: 'Lunch?', values: ['Rice', 'Noodles'] },
    });
    await page.getByRole('button', { name: 'Noodles · 0' }).waitFor();
    await tabTo('Noodles · 0');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Noodles · 1' }).waitFor();
    expect((await focused()).name).toBe('Noodles · 1');
    expect(bob.messages.get(poll.key.id ?? '')?.votes).toEqual({ '6591110002@s.whatsapp.net': ['Noodles'] });
  });

  it('sends a poll of its own, makes a group and a phone', async () => {
    await tabTo('Send a poll');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Dinner?');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Soup');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Salad');
    await tabTo('Send');
    await page.keyboard.press('Enter');
    const got = await client.message(({ message }) => message?.pollCreationMessageV3?.name === 'Dinner?', 'the poll');
    expect(got.message?.pollCreationMessageV3?.options?.map(({ optionName }) => optionName)).toEqual(['Soup', 'Salad']);
    await dialogClosed();

    await tabTo('6591110002 New group');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Made without a mouse');
    await page.keyboard.press('Tab');
    await page.keyboard.type('+6591110001');
    await page.keyboard.press('Enter');
    await client.until(
      () =>
        client
          .eventsOf('groups.upsert')
          .flat()
          .some(({ subject }) => subject === 'Made without a mouse'),
      'the group',
    );
    await dialogClosed();

    await tabTo('New phone');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Carol');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Carol/ }).waitFor();
  });

  it('goes past the list of phones with one key, and through it with the arrows', async () => {
    for (let more = 0; more < 30; more++) simulator.network.accounts.add();
    await page.reload();
    const rail = page.locator('#rail button');
    await rail.nth(32).waitFor();
    let inRail = 0;
    for (let pressed = 0; pressed < 12; pressed++) {
      await page.keyboard.press('Tab');
      inRail += await page.evaluate(() => (document.activeElement?.closest('#rail') ? 1 : 0));
    }
    expect(inRail).toBe(1);
    await rail.nth(5).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const chosen = await rail.nth(6).textContent();
    await page.getByRole('region', { name: `Phone ${chosen?.split('+')[1]}` }).waitFor();
    expect((await focused()).name).toBe(chosen);
  });

  it('unlinks a device, and goes on beside it', async () => {
    await page.locator('[data-phone="6591110001"]').getByText('Device 1').waitFor();
    const closed = client.closed();
    await tabTo('Unlink device 1');
    await page.keyboard.press('Enter');
    expect(await closed).toBe(401);
    await page.locator('[data-phone="6591110001"]').getByText('No linked devices').waitFor();
    expect((await focused()).place).toBe('6591110001 Scan code');
  });
});

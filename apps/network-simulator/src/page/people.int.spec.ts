import type { Browser, Locator, Page } from 'playwright-core';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { describeInBrowser, openBrowser } from './test-browser.js';

jest.setTimeout(60_000);
quietLibsignal();

const DAY_MS = 86_400_000;

describeInBrowser('the page, used by people', () => {
  let simulator: Simulator;
  let browser: Browser;
  let page: Page;
  let alice: Phone;
  let bob: Phone;
  let carol: Phone;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice Tan'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    carol = phones.of(network.accounts.add('6591110003', 'Carol'));
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  });
  afterEach(async () => {
    await page.close();
    await simulator.stop();
  });

  const open = async (): Promise<void> => {
    await page.goto(simulator.control);
    await column(alice).getByText('No linked devices').waitFor();
  };
  const column = (phone: Phone): Locator => page.locator(`[data-phone="${phone.account.phone}"]`);
  const field = (phone: Phone): Locator => column(phone).getByRole('textbox', { name: 'Message' });
  const openChat = (phone: Phone, name: string): Promise<void> =>
    column(phone).getByRole('list', { name: 'Chats' }).getByRole('button', { name }).click();
  const widthOf = async (locator: Locator): Promise<number> => (await locator.boundingBox())?.width ?? 0;
  const talk = async (from: Phone, to: Phone, text: string): Promise<void> => {
    await from.sendDraft(to.account.phone, { text });
    await to.wait({ text }, 5000);
  };

  it.each([
    [4, 1280],
    [2, 768],
  ])('gives messages a field one can write in with %i phones at %i pixels', async (count, width) => {
    simulator.network.accounts.add('6591110004', 'Dora');
    await page.setViewportSize({ width, height: 800 });
    await page.goto(simulator.control);
    const rail = page.locator('#rail button');
    await rail.nth(3).waitFor();
    for (let index = 0; index < 4; index += 1) {
      const isShown = (await rail.nth(index).getAttribute('aria-pressed')) === 'true';
      if (isShown !== index < count) await rail.nth(index).click();
    }
    await page.waitForFunction((shown) => document.querySelectorAll('.phone').length === shown, count);
    for (const one of await page.getByRole('textbox', { name: 'Message' }).all())
      expect(await widthOf(one)).toBeGreaterThan(200);
    // All of them are seen at once.
    expect(await page.locator('#phones').evaluate((main) => main.scrollWidth <= main.clientWidth)).toBe(true);
  });

  it('keeps reply and draft with their chat, and Escape leaves the reply', async () => {
    await talk(bob, alice, 'from Bob');
    await talk(carol, alice, 'from Carol');
    await open();
    await openChat(alice, 'Carol');
    await column(alice).getByRole('button', { name: 'Act on: from Carol' }).click();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await column(alice).getByText('Reply to: from Carol').waitFor();
    await field(alice).fill('half an answer');
    await openChat(alice, 'Bob');
    expect(await field(alice).inputValue()).toBe('');
    await field(alice).fill('to Bob');
    await field(alice).press('Enter');
    expect((await bob.wait({ text: 'to Bob' }, 5000))?.text).toBe('to Bob');
    const context = (phone: Phone, text: string) =>
      page.request
        .get(`${simulator.control}/phones/${phone.account.phone}/messages?text=${encodeURIComponent(text)}`)
        .then(async (response) => ((await response.json()) as { quoted?: string }[])[0]?.quoted);
    expect(await context(bob, 'to Bob')).toBeUndefined();
    await openChat(alice, 'Carol');
    await column(alice).getByText('Reply to: from Carol').waitFor();
    expect(await field(alice).inputValue()).toBe('half an answer');
    await field(alice).press('Escape');
    await column(alice).getByText('Reply to: from Carol').waitFor({ state: 'hidden' });
    await field(alice).press('Enter');
    await carol.wait({ text: 'half an answer' }, 5000);
    expect(await context(carol, 'half an answer')).toBeUndefined();
  });

  it('shows what a reply answers, by author and text', async () => {
    await talk(bob, alice, 'shall we meet?');
    await open();
    await openChat(alice, 'Bob');
    await column(alice).getByRole('button', { name: 'Act on: shall we meet?' }).click();
    await page.getByRole('button', { name: 'Reply', exact: true }).click();
    await field(alice).fill('at noon');
    await field(alice).press('Enter');
    const quoted = column(alice).locator('.bubble', { hasText: 'at noon' }).locator('blockquote');
    await quoted.waitFor();
    expect(await quoted.textContent()).toBe('Bobshall we meet?');
  });

  it('shows a comment with its words and the message that it is about', async () => {
    const { id } = await bob.sendDraft(alice.account.phone, { text: 'shall we meet?' });
    await bob.sendDraft(alice.account.phone, { comment: { id, text: 'at noon' } });
    await open();
    await openChat(alice, 'Bob');
    const comment = column(alice).locator('.bubble', { hasText: 'at noon' });
    await comment.waitFor();
    expect(await comment.locator('blockquote').textContent()).toBe('Bobshall we meet?');
  });

  it('leaves text in the field that could not be sent', async () => {
    await talk(bob, alice, 'hello');
    await open();
    await openChat(alice, 'Bob');
    simulator.network.faults.add({ kind: 'make-unknown', phone: bob.account.phone });
    await field(alice).fill('a long and careful answer');
    await field(alice).press('Enter');
    await column(alice).getByRole('alert').getByText(/./).waitFor();
    expect(await field(alice).inputValue()).toBe('a long and careful answer');
    for (const { id } of simulator.network.faults.all()) simulator.network.faults.remove(id);
    await field(alice).press('Enter');
    await bob.wait({ text: 'a long and careful answer' }, 5000);
    await page.waitForFunction(() => document.querySelector('textarea')?.value === '');
  });

  it('makes a group from numbers as people type them, and nothing from numbers that nobody has', async () => {
    await open();
    await column(alice).getByRole('button', { name: 'New group' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Subject').fill('Lunch');
    await dialog.getByLabel('Numbers of members').fill('+65 9111 0002 +65 9999 0000');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Nobody on this network has the number +6599990000.').waitFor();
    expect([...simulator.network.groups.all()]).toEqual([]);
    await dialog.getByLabel('Numbers of members').fill('+65 9111 0002');
    await dialog.getByLabel('Carol +6591110003').check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await column(bob).getByRole('button', { name: 'Lunch' }).waitFor();
    await column(carol).getByRole('button', { name: 'Lunch' }).waitFor();
    expect([...simulator.network.groups.all()]).toHaveLength(1);
  });

  it('follows phones and groups that are made and removed over HTTP, without a reload', async () => {
    await open();
    await page.request.post(`${simulator.control}/phones`, { data: { phone: '6591110009', name: 'Nora' } });
    await page.getByRole('button', { name: 'Nora +6591110009' }).waitFor();
    await page.request.post(`${simulator.control}/phones/6591110001/groups`, {
      data: { subject: 'Over HTTP', members: ['6591110002'] },
    });
    await column(alice).getByRole('button', { name: 'Over HTTP' }).waitFor();
    await column(bob).getByRole('button', { name: 'Over HTTP' }).waitFor();
    await page.request.delete(`${simulator.control}/phones/6591110003`);
    await column(carol).waitFor({ state: 'detached' });
    await page.request.post(`${simulator.control}/reset`);
    await page.getByText('Nobody is on this network yet.').waitFor();
    await page.getByRole('button', { name: 'Make a phone' }).waitFor();
  });

  it('remembers over a reload which phones are shown and which chats are open', async () => {
    await talk(bob, alice, 'hello');
    await open();
    await page.getByRole('button', { name: 'Carol +6591110003' }).click();
    await column(carol).waitFor({ state: 'detached' });
    await openChat(alice, 'Bob');
    await page.reload();
    await column(alice).getByRole('heading', { name: 'Bob' }).waitFor();
    await column(alice).locator('.bubble', { hasText: 'hello' }).waitFor();
    expect(await column(carol).count()).toBe(0);
  });

  it('shows of a fault whom it strikes, and when it struck', async () => {
    await talk(bob, alice, 'hello');
    await open();
    await page.getByRole('button', { name: 'Faults' }).click();
    const [what, whom] = [page.getByLabel('Fault', { exact: true }), page.getByLabel('For', { exact: true })];
    await what.selectOption('Banned');
    expect(await whom.locator('option').allTextContents()).toEqual([
      'Alice Tan +6591110001',
      'Bob +6591110002',
      'Carol +6591110003',
    ]);
    await what.selectOption('All files expired');
    expect(await whom.locator('option').allTextContents()).toEqual(['Everybody']);
    await what.selectOption('Drop the connection');
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('Dropped 0 connections.').waitFor();
    await what.selectOption('Double the next message');
    await whom.selectOption('Bob +6591110002');
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('Double the next message (Bob +6591110002, 1 left)').waitFor();
    const fault = simulator.network.faults.trigger('duplicate-message', { phone: '6591110002' });
    expect(fault).toBeDefined();
    await page.getByText('Double the next message: it happened at Bob +6591110002.').waitFor();
    await page.getByRole('button', { name: 'End: Double the next message' }).waitFor({ state: 'detached' });
  });

  it('offers every fault of the control API', async () => {
    await open();
    await page.getByRole('button', { name: 'Faults' }).click();
    const offered = await page.getByLabel('Fault', { exact: true }).locator('option').count();
    const kinds = await page.evaluate(async () => {
      const { FAULT_CHOICES } = (await import('/page/fault-catalogue.js' as string)) as {
        FAULT_CHOICES: { request: { kind: string } }[];
      };
      return [...new Set(FAULT_CHOICES.map(({ request }) => request.kind))].sort();
    });
    const response = await page.request.get(`${simulator.control}/openapi.json`);
    const all = [...(await response.text()).matchAll(/"kind":\{"type":"string","const":"([a-z-]+)"/g)];
    expect(offered).toBeGreaterThanOrEqual(kinds.length);
    expect(kinds).toEqual([...new Set(all.map(([, kind]) => kind ?? ''))].sort());
  });

  it('takes several answers in a poll that allows them', async () => {
    await bob.sendDraft(alice.account.phone, { poll: { name: 'Lunch?', options: ['Rice', 'Soup'], selectable: 0 } });
    await open();
    await openChat(alice, 'Bob');
    await column(alice).getByRole('button', { name: 'Rice · 0' }).click();
    await column(alice).getByRole('button', { name: 'Rice · 1' }).waitFor();
    await column(alice).getByRole('button', { name: 'Soup · 0' }).click();
    await column(alice).getByRole('button', { name: 'Soup · 1' }).waitFor();
    await column(alice).getByRole('button', { name: 'Rice · 1' }).click();
    await column(alice).getByRole('button', { name: 'Rice · 0' }).waitFor();
    const [poll] = alice.messages.all({ type: 'poll' });
    expect(poll?.votes).toEqual({ '6591110001@s.whatsapp.net': ['Soup'] });
  });

  it('puts messages under their days, and a name over the chat', async () => {
    await page.request.post(`${simulator.control}/phones/6591110001/history`, {
      data: { chats: ['6591110002'], messagesPerChat: 2, minutesApart: 90 * 24 * 60 },
    });
    await talk(bob, alice, 'today');
    await open();
    await openChat(alice, 'Bob');
    await column(alice).getByRole('heading', { name: 'Bob' }).waitFor();
    const days = alice.messages.all({}).map(({ timestamp }) => new Date(timestamp * 1000));
    const old = days.filter((day) => Date.now() - day.getTime() > 2 * DAY_MS);
    expect(old.length).toBeGreaterThan(0);
    expect(await column(alice).locator('.day').allTextContents()).toEqual([
      ...old.map((day) => day.toLocaleDateString('en-US', { day: 'numeric', month: 'long', year: 'numeric' })),
      'Today',
    ]);
  });

  it('shows how to point a bot here', async () => {
    await open();
    await page.getByRole('button', { name: 'Connect a bot' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Socket address', { exact: true }).textContent()).toBe(simulator.socketUrl);
    expect(await dialog.getByLabel('Root key', { exact: true }).textContent()).toBe(simulator.rootKey);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await dialog.getByRole('button', { name: 'Copy: Root key' }).click();
    await page.getByText('Root key: copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(simulator.rootKey);
  });

  it('asks for a code in words when none is given', async () => {
    await open();
    await column(alice).getByRole('button', { name: 'Scan code' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Scan', exact: true }).click();
    await dialog.getByText('Pick a login, paste the text of a code').waitFor();
  });
});

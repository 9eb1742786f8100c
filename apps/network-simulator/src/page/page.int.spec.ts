import type { Browser, Locator, Page } from 'playwright-core';
import QRCode from 'qrcode';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { Client } from '../scenarios/client.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { describeInBrowser, openBrowser } from './test-browser.js';

jest.setTimeout(120_000);
quietLibsignal();

describeInBrowser('the page for people', () => {
  let simulator: Simulator;
  let browser: Browser;
  let page: Page;
  let alice: Phone;
  let bob: Phone;
  let client: Client;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator);
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 850 } });
    await page.goto(simulator.control);
  });

  afterAll(async () => {
    await browser.close();
    await client.end();
    await simulator.stop();
  });

  const column = (phone: Phone): Locator => page.locator(`[data-phone="${phone.account.phone}"]`);

  it('links a client by the picture of its code', async () => {
    const code = await client.code();
    const closed = client.closed();
    const png = await QRCode.toBuffer(code, { errorCorrectionLevel: 'L', scale: 6 });
    await column(alice).getByRole('button', { name: 'Scan code' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('input[type=file]').setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: png });
    await dialog.getByRole('button', { name: 'Scan' }).click();
    await closed;
    await client.connect();
    await column(alice)
      .getByText(/Device 1 .* online/)
      .waitFor();
  });

  it('links a client by a picture that is dropped, and by the text that is pasted', async () => {
    const dialog = page.getByRole('dialog');
    for (const [device, how] of [
      [1, 'dropped'],
      [2, 'pasted'],
    ] as const) {
      const other = new Client(simulator);
      const code = await other.code();
      const closed = other.closed();
      await column(bob).getByRole('button', { name: 'Scan code' }).click();
      if (how === 'pasted') await dialog.getByLabel('Text of the code').fill(code);
      else {
        const png = [...(await QRCode.toBuffer(code, { errorCorrectionLevel: 'L', scale: 6 }))];
        const dropped = await page.evaluateHandle((bytes) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], 'code.png', { type: 'image/png' }));
          return transfer;
        }, png);
        await dialog.locator('.drop').dispatchEvent('drop', { dataTransfer: dropped });
      }
      await dialog.getByRole('button', { name: 'Scan' }).click();
      await closed;
      await other.connect();
      expect(other.jid).toBe(`6591110002:${device}@s.whatsapp.net`);
      await other.socket.logout();
      await column(bob).getByText('No linked devices').waitFor();
    }
  });

  it('chats both ways by the keyboard alone, and sees the ticks turn', async () => {
    await column(bob).getByRole('button', { name: 'New chat' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('6591110001');
    await page.keyboard.press('Enter');
    await column(bob).getByRole('heading', { name: '+6591110001' }).waitFor();
    await column(bob).getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.type('hello from the page');
    await page.keyboard.press('Enter');
    await client.text('hello from the page');
    const own = column(bob).locator('.bubble.own', { hasText: 'hello from the page' });
    await own.getByRole('img', { name: 'delivered' }).waitFor();
    const got = await client.text('hello from the page');
    await client.socket.readMessages([got.key]);
    await own.getByRole('img', { name: 'read' }).waitFor();
    await client.send('6591110002@s.whatsapp.net', { text: 'hello from the client' });
    await column(bob).locator('.bubble', { hasText: 'hello from the client' }).waitFor();
    await column(alice).getByRole('button', { name: /Bob/ }).click();
    await column(alice)
      .locator('.bubble.own', { hasText: 'hello from the client' })
      .getByRole('img', { name: 'read' })
      .waitFor();
  });

  it('shows typing, reactions, polls and pictures', async () => {
    await client.socket.sendPresenceUpdate('composing', '6591110002@s.whatsapp.net');
    await column(bob).getByText('is typing').waitFor();
    const sent = await client.send('6591110002@s.whatsapp.net', {
      poll: { name: 'Lunch?', values: ['Rice', 'Noodles'] },
    });
    await column(bob).getByRole('button', { name: 'Rice · 0' }).click();
    await column(bob).getByRole('button', { name: 'Rice · 1' }).waitFor();
    await client.send('6591110002@s.whatsapp.net', { react: { text: '🎉', key: sent.key } });
    await column(bob).getByText('🎉').waitFor();
    const pixel = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await bob.sendDraft(alice.account.phone, { image: { bytes: pixel, mimetype: 'image/png' }, caption: 'a pixel' });
    const image = column(bob).getByRole('img', { name: 'a pixel' });
    await image.waitFor();
    await page.waitForFunction(
      (element) => (element as HTMLImageElement).naturalWidth === 1,
      await image.elementHandle(),
    );
  });

  it('switches faults on and off', async () => {
    await page.getByRole('button', { name: 'Faults' }).click();
    await page.getByLabel('Fault', { exact: true }).selectOption('Hold acknowledgements');
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByRole('button', { name: 'End: Hold acknowledgements' }).click();
    await page.getByRole('button', { name: 'End: Hold acknowledgements' }).waitFor({ state: 'detached' });
    expect(simulator.network.faults.all()).toEqual([]);
  });
});

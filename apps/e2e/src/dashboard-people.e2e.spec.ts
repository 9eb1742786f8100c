import type { Browser, BrowserContext, Page } from 'playwright-core';
import { TOTP, URI } from 'otpauth';
import { pageFaults } from './harness/accessibility.js';
import { describeInBrowser, openBrowser } from './harness/browser.js';
import { DashboardUser, linkInMail, type DashboardPlaces } from './harness/dashboard-user.js';
import { RunningStack } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';

const BOBS = 'seven quiet lanterns 19 west';

describeInBrowser('people at the dashboard', () => {
  let running: RunningStack<SharedStack>;
  let browser: Browser;
  let places: DashboardPlaces;
  let ann: DashboardUser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    running = await RunningStack.shared();
    places = { origin: running.stack.publicUrl, mailbox: running.stack.urls.mail ?? '' };
    browser = await openBrowser();
    ann = await DashboardUser.create(places, 'ann@example.com');
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await running?.stop();
  }, 60_000);

  beforeEach(async () => {
    context = await browser.newContext({ baseURL: places.origin, viewport: { width: 1_100, height: 800 } });
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const heading = (name: string, on = page) => on.getByRole('heading', { name, level: 1 }).waitFor();
  const button = (name: string, on = page) => on.getByRole('button', { name, exact: true });
  const field = (name: string, on = page) => on.getByRole('textbox', { name });

  it('open a link of a mail, which leaves the address bar and changes nothing until its button is pressed', async () => {
    await page.goto('/sign-up');
    await field('Your name').fill('Cleo');
    await field('E-mail address').fill('cleo@example.com');
    await field('New password').fill(BOBS);
    await button('Create user').click();
    await page.getByText('We sent a mail to cleo@example.com').waitFor();
    const link = await linkInMail(places, 'cleo@example.com', '/verify-email');
    expect(link.search).toBe('');
    const tab = await context.newPage();
    await tab.goto(link.href);
    await heading('Confirm your address', tab);
    expect(tab.url()).toBe(`${places.origin}/verify-email`);
    expect(await pageFaults(tab)).toEqual([]);
    const signIn = await page.request.post('/api/v1/auth/sign-in', {
      headers: { origin: places.origin },
      data: { email: 'cleo@example.com', password: BOBS },
    });
    expect(signIn.status()).toBe(403);
    await button('Confirm', tab).click();
    await heading('Name your account', tab);
    expect(await pageFaults(tab)).toEqual([]);
  }, 60_000);

  it('work in a team: a role that may not is not offered what it may not do, and the API refuses it', async () => {
    await ann.signIn(context);
    await page.goto('/account/members');
    await field('E-mail address of the person').fill('bob@example.com');
    await page.getByRole('combobox', { name: 'Role', exact: true }).selectOption('viewer');
    await button('Invite').click();
    await page.getByText('The invitation is on its way').waitFor();
    const link = await linkInMail(places, 'bob@example.com', '/invitation');
    const bobs = await browser.newContext({ baseURL: places.origin });
    const tab = await bobs.newPage();
    await tab.goto(link.href);
    await field('Your name', tab).fill('Bob');
    await field('New password', tab).fill(BOBS);
    await button('Accept', tab).click();
    await tab.getByText('You are a member of Acme now').waitFor();
    await tab.getByRole('link', { name: 'Sign in' }).click();
    await field('E-mail address', tab).fill('bob@example.com');
    await field('Password', tab).fill(BOBS);
    await button('Sign in', tab).click();
    const menu = tab.getByRole('navigation', { name: 'Main menu' });
    await menu.getByRole('link', { name: 'Account' }).click();
    await heading('Overview', tab);
    expect(await menu.getByRole('link', { name: 'Billing' }).count()).toBe(0);
    const sections = tab.getByRole('navigation', { name: 'Parts of the account' });
    expect(await sections.getByRole('link').allTextContents()).toEqual(['Overview', 'Members']);
    expect(await button('End the account', tab).count()).toBe(0);
    const refused = await bobs.request.post('/api/v1/channels', {
      headers: { origin: places.origin },
      data: { name: 'Shop' },
    });
    expect(refused.status()).toBe(403);
    expect(await pageFaults(tab)).toEqual([]);
    await page.reload();
    await page.getByRole('combobox', { name: 'Role of Bob' }).selectOption('developer');
    await tab.reload();
    await sections.getByRole('link', { name: 'Keys' }).waitFor();
    expect(await pageFaults(page)).toEqual([]);
    await bobs.close();
  }, 90_000);

  it('turn a second factor on, sign in with its codes, and with a recovery code when the phone is lost', async () => {
    await ann.signIn(context);
    await page.goto('/profile');
    await page.getByText('Off', { exact: true }).waitFor();
    const factor = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Second factor' }) });
    await factor.getByRole('textbox', { name: 'Your password' }).fill(ann.password);
    await button('Turn on').click();
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    expect(await pageFaults(page)).toEqual([]);
    const secret = await page.getByLabel('Secret', { exact: true }).innerText();
    const codes = (await page.getByLabel('Recovery codes', { exact: true }).innerText()).split('\n');
    const phone = URI.parse(`otpauth://totp/spec?secret=${secret}`);
    if (!(phone instanceof TOTP)) throw new Error('no TOTP');
    await field('The code that the app shows now').fill(phone.generate());
    await button('Confirm').click();
    await page.getByText('On', { exact: true }).waitFor();

    const signIn = async (): Promise<void> => {
      await page.goto('/sign-in?returnTo=/profile');
      await field('E-mail address').fill(ann.email);
      await field('Password').fill(ann.password);
      await button('Sign in').click();
      await heading('Enter your code');
    };
    await context.clearCookies();
    await signIn();
    await field('Code of your authenticator app').fill(phone.generate({ timestamp: Date.now() + 30_000 }));
    await button('Sign in').click();
    await heading('Your user');
    await context.clearCookies();
    await signIn();
    await button('My phone is lost: use a recovery code').click();
    await field('Recovery code').fill(codes[0] ?? '');
    expect(await pageFaults(page)).toEqual([]);
    await button('Sign in').click();
    await heading('Your user');
    await context.clearCookies();
    await signIn();
    await button('My phone is lost: use a recovery code').click();
    await field('Recovery code').fill(codes[0] ?? '');
    await button('Sign in').click();
    await page.getByRole('alert').waitFor();
  }, 90_000);

  it('see one banner while the API is away, and the page recovers by itself', async () => {
    const dora = await DashboardUser.create(places, 'dora@example.com');
    await dora.signIn(context);
    await page.goto('/account/members');
    await page.getByText('dora@example.com', { exact: false }).first().waitFor();
    const banner = page.getByText('The service does not answer at the moment');
    await running.stack.restart('control-plane', {
      whileDown: async () => {
        await page
          .getByRole('navigation', { name: 'Parts of the account' })
          .getByRole('link', { name: 'Keys' })
          .click();
        await banner.waitFor();
        expect(await banner.count()).toBe(1);
      },
    });
    await banner.waitFor({ state: 'detached' });
    await page.getByText('There are no keys.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  }, 90_000);

  it('find no serious fault on the pages of account and user', async () => {
    const eve = await DashboardUser.create(places, 'eve@example.com');
    await eve.signIn(context);
    for (const [path, title] of [
      ['/account', 'Overview'],
      ['/account/members', 'Members'],
      ['/account/keys', 'Keys'],
      ['/account/audit', 'Audit log'],
      ['/profile', 'Your user'],
    ] as const) {
      await page.goto(path);
      await heading(title);
      expect([path, await pageFaults(page)]).toEqual([path, []]);
    }
  }, 60_000);

  it('find no serious fault on the pages for those who are not signed in', async () => {
    const stranger = await browser.newContext({ baseURL: places.origin });
    const tab = await stranger.newPage();
    for (const path of [
      '/sign-in',
      '/sign-up',
      '/forgot-password',
      '/invitation',
      '/sign-in-failed',
      '/nothing-here',
    ]) {
      await tab.goto(path);
      await tab.getByRole('heading', { level: 1 }).waitFor();
      expect([path, await pageFaults(tab)]).toEqual([path, []]);
    }
    await stranger.close();
  }, 60_000);
});

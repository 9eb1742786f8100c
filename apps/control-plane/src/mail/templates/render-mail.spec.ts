import type { MailKinds } from '@dormouse/mail-outbox';
import { named } from './mail-parts.js';
import { renderMail } from './render-mail.js';

const LINK = 'https://app.example.com/x?a=1&b=2';
const AT = '2026-03-01T10:00:00.000Z';

/** Data of each kind, in which every text that others choose is the given one. */
const dataOf = (name: string): MailKinds => ({
  'verify-address': { link: LINK, validForHours: 24 },
  'reset-password': { link: LINK, validForMinutes: 60 },
  'sign-up-attempt': { signInLink: LINK, resetLink: LINK },
  invitation: { link: LINK, accountName: name, invitedBy: name, role: 'developer', validForDays: 7 },
  'new-sign-in': { at: AT, address: '203.0.113.7', browser: name },
  'address-changed': { at: AT },
  'number-unlinked': { channelId: 'ch_1', channelName: name, at: AT },
  'webhook-failing': { channelId: 'ch_1', channelName: name, host: 'hook.test', since: AT, lastError: name },
  'payment-failed': { amount: '4.00 USD', graceEndsAt: AT, invoiceLink: LINK },
  'grace-ending': { graceEndsAt: AT, invoiceLink: LINK },
  'numbers-stopped': { numbers: 2, invoiceLink: LINK },
  'served-again': { numbers: 1 },
  'second-subscription': { accountId: 'acc_1', subscription: 'sub_2' },
});
const KINDS = Object.keys(dataOf('')) as (keyof MailKinds)[];
const rendered = (kind: keyof MailKinds, name = 'Acme') => renderMail({ kind, data: dataOf(name)[kind] }, 'Dormouse');

describe('a mail', () => {
  it.each(KINDS)('of the kind %s has a subject, text and HTML with the same words, and loads nothing', (kind) => {
    const { subject, text, html } = rendered(kind);
    expect(subject).toMatch(/^\S.{4,60}$/);
    expect(`${text}${html}`).not.toMatch(/undefined|null|NaN|\[object/);
    expect(html).not.toMatch(/<(img|script|link|iframe|object|video)|url\(|@import|src=/i);
    const words = (page: string) =>
      page
        .replace(/<style[\s\S]*?<\/style>|<title>.*?<\/title>/g, '')
        .replace(/<[^>]*>/g, ' ')
        .replace(/&amp;/g, '&')
        .replace(/&quot;/g, '"')
        .replace(/&#39;/g, "'")
        .replace('Or copy this address into a browser:', '')
        .split(/[\s:]+/)
        .filter((word) => word !== '' && word !== '--')
        .sort();
    expect([...new Set(words(html))]).toEqual([...new Set(words(text))]);
  });

  it.each(KINDS)('of the kind %s shows what others chose as text on one line, and never as a link', (kind) => {
    const evil = '<a href="https://evil.test">\r\nBcc: eve@evil.test https://evil.test/pay \u202eabc';
    const { subject, text, html } = rendered(kind, evil);
    expect(subject).not.toMatch(/[\r\n\u202e]/);
    expect(`${text}${html}`).not.toMatch(/https:\/\/evil|\u202e/);
    expect(html).not.toMatch(/<a href="(?!https:\/\/app\.example\.com\/x\?a=1&amp;b=2")/);
  });

  it.each(KINDS)('of the kind %s has its link whole in the text', (kind) => {
    if (JSON.stringify(dataOf('')[kind]).includes(LINK)) expect(rendered(kind).text).toContain(`\n${LINK}\n`);
  });

  it('refuses a link that runs something', () => {
    const data = { ...dataOf('').invitation, link: 'javascript:alert(1)' };
    expect(() => renderMail({ kind: 'invitation', data }, 'Dormouse')).toThrow('a link of a mail has the scheme');
  });

  it('names times in one way everywhere', () => {
    expect(rendered('grace-ending').text).toContain('1 March 2026 at 10:00 UTC');
    expect(rendered('numbers-stopped').subject).toBe('2 numbers stopped');
    expect(rendered('served-again').subject).toBe('1 number works again');
  });

  it.each([
    ['Acme: Berlin', 'Acme: Berlin'],
    ['HTTPS://evil.test', 'evil.test'],
    ['x www.evil.test', 'x evil.test'],
    [`${'a'.repeat(70)}`, `${'a'.repeat(59)}…`],
    ['a\0b\nc\u2028d', 'a b c d'],
  ])('shows the name %j as %j', (name, shown) => {
    expect(named(name)).toBe(shown);
  });
});

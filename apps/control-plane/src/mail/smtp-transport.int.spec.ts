import { startMailbox, type Mailbox } from '@dormouse/mailbox';
import { openSmtp, refusalOf, type MailTransport, type OutgoingMail } from './smtp-transport.js';

const FROM = { address: 'no-reply@example.com', name: 'Dormouse' };
const MAIL: OutgoingMail = {
  to: { address: 'bob@example.com', name: 'Bob' },
  subject: 'Hello',
  text: 'Hi Bob',
  html: '<p>Hi Bob</p>',
  messageId: '<1@example.com>',
};

describe('mail over SMTP', () => {
  let mailbox: Mailbox;
  let transport: MailTransport;

  beforeAll(async () => {
    mailbox = await startMailbox();
    transport = openSmtp({ url: mailbox.smtpUrl, from: FROM });
  });
  beforeEach(() => {
    mailbox.remove();
    mailbox.work();
  });
  afterAll(async () => {
    transport.close();
    await mailbox.stop();
  });

  const failure = (mail: Partial<OutgoingMail> = {}): Promise<unknown> =>
    transport.send({ ...MAIL, ...mail }).then(
      () => {
        throw new Error('it was accepted');
      },
      (error: unknown) => error,
    );

  it('has both forms, sender, recipient and the given Message-ID', async () => {
    await transport.send(MAIL);
    expect(mailbox.list()).toMatchObject([
      {
        envelope: { from: FROM.address, to: ['bob@example.com'] },
        from: '"Dormouse" <no-reply@example.com>',
        to: '"Bob" <bob@example.com>',
        subject: 'Hello',
        messageId: '<1@example.com>',
        text: expect.stringContaining('Hi Bob'),
        html: expect.stringContaining('<p>Hi Bob</p>'),
        source: expect.stringContaining('Auto-Submitted: auto-generated'),
      },
    ]);
  });

  it.each([
    { to: { address: 'bob@example.com', name: 'Bob\r\nBcc: eve@evil.test' } },
    { to: { address: 'bob@example.com', name: 'Bob" <eve@evil.test>, "x' } },
    { subject: 'Hello\r\nBcc: eve@evil.test' },
  ])('reaches nobody else, whatever a name or a subject holds: %j', async (hostile) => {
    await transport.send({ ...MAIL, ...hostile });
    expect(mailbox.list().map(({ envelope }) => envelope.to)).toEqual([['bob@example.com']]);
    expect(mailbox.list()[0]?.source).not.toMatch(/^Bcc:/m);
  });

  it.each([
    'bob@example.com\r\nBcc: eve@evil.test',
    'bob@example.com, eve@evil.test',
    'bob@example.com>\r\nRCPT TO:<eve@evil.test',
    'bob',
  ])('goes to nobody but the one address %j, or to nobody', async (address) => {
    await transport.send({ ...MAIL, to: { address, name: '' } }).catch(() => undefined);
    expect(mailbox.list({ to: 'eve@evil.test' })).toEqual([]);
  });

  it.each([
    ['recipient', 550, true],
    ['recipient', 450, false],
    ['message', 554, true],
    ['message', 451, false],
    // Faults of the settings, not of the mail.
    ['sender', 553, false],
  ] as const)('refused at the %s with %i is final: %s', async (at, code, isFinal) => {
    mailbox.fail({ kind: 'refuse', at, code });
    const refusal = refusalOf(await failure());
    expect(refusal).toMatchObject({ isFinal });
    expect(refusal.reason).toContain(String(code));
  });

  it('refused for its password is tried again', async () => {
    mailbox.fail({ kind: 'refuse', at: 'auth', code: 535 });
    const withPassword = openSmtp({ url: mailbox.smtpUrl.replace('//', '//ann:secret-1@'), from: FROM });
    const error = await withPassword.send(MAIL).catch((failed: unknown) => failed);
    withPassword.close();
    expect(refusalOf(error)).toMatchObject({ isFinal: false });
    expect(refusalOf(error).reason).not.toContain('secret-1');
  });

  it('is tried again when the server is away, or goes away with the answer', async () => {
    mailbox.fail({ kind: 'away' });
    expect(refusalOf(await failure())).toMatchObject({ isFinal: false });
    mailbox.work();
    mailbox.fail({ kind: 'cut', times: 1 });
    expect(refusalOf(await failure())).toMatchObject({ isFinal: false });
    expect(mailbox.list()).toHaveLength(1);
  });

  it('has failures without addresses', () => {
    const error = Object.assign(new Error('550 <bob@example.com>: no\nsuch mailbox bob@example.com'), {
      code: 'EENVELOPE',
    });
    expect(refusalOf(error).reason).toBe('EENVELOPE: 550 <<address>>: no such mailbox <address>');
  });
});

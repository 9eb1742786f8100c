import { createTransport, type SendMailOptions, type Transporter } from 'nodemailer';
import { startMailbox, type Mailbox, type ReceivedMail } from './index.js';

const AT = new Date('2026-03-01T10:00:00.000Z');

describe('the mailbox', () => {
  let mailbox: Mailbox;
  let sender: Transporter;

  beforeAll(async () => {
    mailbox = await startMailbox({ now: () => AT });
  });
  beforeEach(() => {
    mailbox.remove();
    mailbox.work();
    sender = createTransport(mailbox.smtpUrl);
  });
  afterEach(() => sender.close());
  afterAll(() => mailbox.stop());

  const send = (mail: SendMailOptions = {}): Promise<unknown> =>
    sender.sendMail({
      from: { name: 'Dormouse', address: 'no-reply@example.com' },
      to: { name: 'Bob', address: 'bob@example.com' },
      subject: 'Hello',
      text: 'See https://a.test/x?y=1. Bye',
      html: '<p>See <a href="https://a.test/x?y=1">this</a></p>',
      messageId: '<1@example.com>',
      ...mail,
    });
  const api = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(`${mailbox.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: await response.json() };
  };
  const onlyMail = (): ReceivedMail => {
    const [mail, ...others] = mailbox.list();
    if (!mail || others.length > 0) throw new Error('there is not exactly one mail');
    return mail;
  };

  it('gives a mail as it was sent: envelope, headers, text, HTML and links', async () => {
    await send();
    expect(onlyMail()).toMatchObject({
      receivedAt: AT.toISOString(),
      envelope: { from: 'no-reply@example.com', to: ['bob@example.com'] },
      from: '"Dormouse" <no-reply@example.com>',
      to: '"Bob" <bob@example.com>',
      subject: 'Hello',
      messageId: '<1@example.com>',
      text: 'See https://a.test/x?y=1. Bye',
      html: '<p>See <a href="https://a.test/x?y=1">this</a></p>',
      links: ['https://a.test/x?y=1'],
    });
  });

  it('lists mail by recipient and by what is newer, whatever the case, blind copies included', async () => {
    await send({ bcc: { name: '', address: 'Cy@example.com' } });
    await send({ to: { name: '', address: 'dee@example.com' }, subject: 'Second' });
    const { id } = mailbox.list()[0] ?? { id: 0 };
    expect(await api('GET', '/mails?to=CY@example.com')).toMatchObject({
      status: 200,
      body: [{ id, subject: 'Hello' }],
    });
    expect(await api('GET', `/mails?after=${id}`)).toMatchObject({ body: [{ subject: 'Second' }] });
    expect(await api('GET', '/mails?to=eve@example.com')).toEqual({ status: 200, body: [] });
    expect(await api('GET', `/mails/${id}`)).toMatchObject({ body: { id, links: ['https://a.test/x?y=1'] } });
  });

  it('waits for the next mail that is wanted, and answers 404 when none comes in time', async () => {
    const waiting = api('GET', '/mails/next?to=bob@example.com');
    await send({ to: { name: '', address: 'dee@example.com' } });
    await send({ subject: 'For Bob' });
    expect(await waiting).toMatchObject({ status: 200, body: { subject: 'For Bob' } });
    expect(await api('GET', '/mails/next?to=eve@example.com&timeoutMs=0')).toEqual({
      status: 404,
      body: { error: 'no such mail came within 0 ms' },
    });
    await expect(mailbox.next({ to: 'eve@example.com' }, 0)).rejects.toThrow('no mail to eve@example.com');
  });

  it('deletes one mail, those of a recipient, and all', async () => {
    await send();
    await send({ to: { name: '', address: 'dee@example.com' } });
    await send();
    const { id } = mailbox.list()[0] ?? { id: 0 };
    expect(await api('DELETE', `/mails/${id}`)).toEqual({ status: 200, body: { deleted: 1 } });
    expect(await api('DELETE', `/mails/${id}`)).toEqual({ status: 404, body: { error: `there is no mail ${id}` } });
    expect(await api('DELETE', '/mails?to=dee@example.com')).toEqual({ status: 200, body: { deleted: 1 } });
    expect(await api('DELETE', '/mails')).toEqual({ status: 200, body: { deleted: 1 } });
    expect(mailbox.list()).toEqual([]);
  });

  it.each([
    ['sender', { code: 'EENVELOPE', responseCode: 451 }],
    ['recipient', { code: 'EENVELOPE', responseCode: 451 }],
    ['message', { code: 'EMESSAGE', responseCode: 451 }],
  ] as const)('refuses at the step %s as often as it was set, and stores nothing', async (at, failure) => {
    mailbox.fail({ kind: 'refuse', at, code: 451, times: 1 });
    await expect(send()).rejects.toMatchObject(failure);
    expect(mailbox.list()).toEqual([]);
    await send();
    expect(mailbox.list()).toHaveLength(1);
  });

  it('refuses a password, one recipient alone', async () => {
    mailbox.fail({ kind: 'refuse', at: 'auth', code: 535 });
    const withPassword = createTransport(mailbox.smtpUrl.replace('//', '//ann:secret@'));
    await expect(withPassword.sendMail({ from: 'a@b.c', to: 'bob@example.com' })).rejects.toMatchObject({
      code: 'EAUTH',
      responseCode: 535,
    });
    mailbox.work();
    mailbox.fail({ kind: 'refuse', at: 'recipient', code: 550, to: 'dee@example.com' });
    await expect(send({ to: { name: '', address: 'Dee@example.com' } })).rejects.toMatchObject({ responseCode: 550 });
    await send();
    expect(onlyMail().envelope.to).toEqual(['bob@example.com']);
  });

  it('cuts the connection after it has stored a message, instead of answering', async () => {
    mailbox.fail({ kind: 'cut', times: 1 });
    await expect(send()).rejects.toThrow();
    expect(mailbox.list()).toHaveLength(1);
    await send();
    expect(mailbox.list()).toHaveLength(2);
  });

  it('is away, for connections that are open as well, and back', async () => {
    const pooled = createTransport({ url: mailbox.smtpUrl, pool: true, maxConnections: 1 });
    await pooled.sendMail({ from: 'a@b.c', to: 'bob@example.com' });
    mailbox.fail({ kind: 'away' });
    await expect(send()).rejects.toThrow();
    await expect(pooled.sendMail({ from: 'a@b.c', to: 'bob@example.com' })).rejects.toThrow();
    mailbox.work();
    await send();
    expect(mailbox.list()).toHaveLength(2);
    pooled.close();
  });

  it('is slow: the answer to a message comes later, not at once', async () => {
    mailbox.fail({ kind: 'slow', ms: 60_000, times: 1 });
    const impatient = createTransport({ url: mailbox.smtpUrl, socketTimeout: 50 });
    await expect(impatient.sendMail({ from: 'a@b.c', to: 'bob@example.com' })).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
  });

  it('takes faults over HTTP, lists them, and names the field that is wrong', async () => {
    const fault = { kind: 'refuse', at: 'recipient', code: 550, times: 2 };
    expect(await api('POST', '/faults', fault)).toEqual({ status: 201, body: [fault] });
    expect(await api('POST', '/faults', { ...fault, code: 200 })).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^code: /) },
    });
    expect(await api('GET', '/faults')).toEqual({ status: 200, body: [fault] });
    expect(await api('DELETE', '/faults')).toEqual({ status: 200, body: [] });
    expect(await api('GET', '/nothing')).toEqual({ status: 404, body: { error: 'there is no such path' } });
    expect(await api('GET', '/mails/x')).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^id: /) },
    });
  });

  it('shows what came by mail escaped, and its HTML where it runs and loads nothing', async () => {
    const evil = '<script>alert(1)</script>';
    await send({ subject: evil, text: evil, html: `<b>hi</b>${evil}<img src="https://evil.test/x">` });
    const { id } = onlyMail();
    for (const path of ['/', `/view/${id}`]) {
      const response = await fetch(`${mailbox.url}${path}`);
      expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self'/);
      const text = await response.text();
      expect(text).not.toContain(evil);
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    }
    const html = await fetch(`${mailbox.url}/mails/${id}/html`);
    expect(html.headers.get('content-security-policy')).toMatch(/^sandbox .*default-src 'none'/);
    expect(html.headers.get('content-security-policy')).not.toMatch(/allow-scripts|allow-same-origin|https/);
    expect(await html.text()).toContain('<b>hi</b>');
    const source = await fetch(`${mailbox.url}/mails/${id}/source`);
    expect(source.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await source.text()).toContain('Message-ID: <1@example.com>');
  });

  it('ends a wait when it stops, and frees its ports', async () => {
    const other = await startMailbox();
    const port = Number(new URL(other.url).port);
    const smtpPort = Number(new URL(other.smtpUrl).port);
    const waiting = other.next().catch((error: unknown) => error);
    await other.stop();
    expect(await waiting).toBeInstanceOf(Error);
    const again = await startMailbox({ port, smtpPort });
    expect(again).toMatchObject({ url: other.url, smtpUrl: other.smtpUrl });
    await again.stop();
  });
});

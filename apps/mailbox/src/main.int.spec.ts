import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createTransport } from 'nodemailer';

/** The program as it is built: it is a process of its own. */
const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js');

describe('the mailbox as a process', () => {
  let child: ChildProcess | undefined;

  afterEach(() => child?.kill('SIGKILL'));

  it('prints on one line where it listens, takes mail there, and ends at SIGTERM', async () => {
    child = spawn(process.execPath, [MAIN], {
      env: { PORT: '0', SMTP_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (!child.stdout) throw new Error('The process has no standard output.');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { url, smtpUrl } = (JSON.parse(line) as { listening: { url: string; smtpUrl: string } }).listening;
    const sender = createTransport(smtpUrl);
    await sender.sendMail({ from: 'a@example.com', to: 'bob@example.com', subject: 'Hello', text: 'Hi' });
    sender.close();
    expect(await (await fetch(`${url}/mails`)).json()).toMatchObject([{ subject: 'Hello' }]);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

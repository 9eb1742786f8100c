import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Drill } from './drill.js';
import { onSandbox, type Sandbox } from './sandbox.js';
import { until } from './traffic.js';

const WITHIN_MS = 90_000;
const REFUSED = 'certificate not accepted';

function openssl(folder: string, ...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr}`);
}

/** Authorities and certificates of 127.0.0.1, as files in a folder. */
class Certificates {
  constructor(private readonly folder: string) {}

  file(name: string): string {
    return join(this.folder, name);
  }

  newAuthority(name: string): void {
    const subject = ['-subj', `/CN=${name}`, '-days', '30', '-nodes', '-newkey', 'rsa:2048'];
    openssl(this.folder, 'req', '-x509', ...subject, '-keyout', `${name}.key`, '-out', `${name}.pem`);
  }

  /** @param days of its validity; negative: it has expired */
  issued(authority: string, name: string, days: number): { key: Buffer; cert: Buffer } {
    const request = [
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=127.0.0.1',
      '-addext',
      'subjectAltName=IP:127.0.0.1',
    ];
    openssl(this.folder, 'req', ...request, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const signer = [
      '-CA',
      `${authority}.pem`,
      '-CAkey',
      `${authority}.key`,
      '-CAcreateserial',
      '-copy_extensions',
      'copy',
    ];
    openssl(this.folder, 'x509', '-req', '-in', `${name}.csr`, ...signer, '-days', String(days), '-out', `${name}.pem`);
    return { key: readFileSync(this.file(`${name}.key`)), cert: readFileSync(this.file(`${name}.pem`)) };
  }
}

/** Step 1: what operators see of a webhook whose certificate is not accepted. */
async function untilRefused(sandbox: Sandbox): Promise<void> {
  await until('the webhook fails by its certificate', WITHIN_MS, async () => {
    return JSON.stringify(await sandbox.fleet('GET', '/sg/stuck').catch(() => '')).includes(REFUSED);
  });
}

/** A receiver's certificate expires and is replaced; then its authority is replaced by one that only we can make known. */
export const certificates: Drill = {
  about: 'certificates of a webhook: expired and replaced, then of an authority that is not known yet',
  runbook: 'certificates.md',
  run: async ({ isShort, report }) => {
    const folder = await mkdtemp(join(tmpdir(), 'dormouse-drill-'));
    try {
      const made = new Certificates(folder);
      made.newAuthority('first');
      made.newAuthority('second');
      const bundle = made.file('bundle.pem');
      copyFileSync(made.file('first.pem'), bundle);
      const valid = made.issued('first', 'valid', 30);
      const env = { 'webhook-dispatcher': { NODE_EXTRA_CA_CERTS: bundle } };
      await onSandbox({ report, channels: isShort ? 2 : 10, env, certificate: valid }, async (sandbox) => {
        const { receiver, traffic, stack } = sandbox;
        report.step("the receiver's certificate expires");
        receiver.useCertificate(made.issued('first', 'expired', -1));
        await untilRefused(sandbox);
        report.step('it gets a valid one; nothing is done here');
        const renewedAtMs = Date.now();
        receiver.useCertificate(made.issued('first', 'renewed', 30));
        await traffic.delivered(0, renewedAtMs);
        report.figure('all delivered after the renewal, s', ((Date.now() - renewedAtMs) / 1_000).toFixed(1));

        report.step('its next certificate is of an authority that the dispatcher does not know');
        receiver.useCertificate(made.issued('second', 'other', 30));
        await untilRefused(sandbox);
        report.step('step 2: the authority is added to the bundle, the dispatcher is rolled');
        appendFileSync(bundle, readFileSync(made.file('second.pem')));
        const addedAtMs = Date.now();
        await stack.restart('webhook-dispatcher');
        await traffic.delivered(0, addedAtMs);
        report.figure('all delivered after the roll, s', ((Date.now() - addedAtMs) / 1_000).toFixed(1));
        await sandbox.settle();
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/**
 * What a data folder remembers between starts: secrets, ports, the first account and the sandbox's channel. Losing the
 * master key would lose every linked session, so the file is replaced whole and only its owner can read it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const sandboxChannel = z.object({ id: z.string(), token: z.string(), phone: z.string() });

function newOperatorKey(): string {
  return `dmo_${randomBytes(32).toString('base64url')}`;
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

/** Secrets that apps share with each other, and with the simulated Stripe. */
function newSecret(prefix = ''): string {
  return `${prefix}${randomBytes(32).toString('hex')}`;
}

function newSecrets() {
  return {
    auth: newSecret(),
    billing: newSecret(),
    simulatedStripe: { secretKey: newSecret('sk_test_'), webhookSecret: newSecret('whsec_') },
  };
}

function newKey(): string {
  return randomBytes(32).toString('base64');
}

const installation = z.object({
  masterKey: z.string(),
  masterKeyId: z.string(),
  settingsKey: z.string().default(newKey),
  settingsKeyId: z.string().default('local-settings-1'),
  accountId: z.string(),
  accountKey: z.string(),
  operatorKey: z.string().default(newOperatorKey),
  /** Of our own PostgreSQL and Redis. */
  passwords: z
    .object({ postgres: z.string(), redis: z.string() })
    .default(() => ({ postgres: newPassword(), redis: newPassword() })),
  /** What signs sessions of users; what the control plane calls billing with; the keys of the simulated Stripe. */
  secrets: z
    .object({
      auth: z.string(),
      billing: z.string(),
      simulatedStripe: z.object({ secretKey: z.string(), webhookSecret: z.string() }),
    })
    .default(newSecrets),
  objectKeys: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  ports: z.record(z.string(), z.number()),
  sandbox: z.object({ channel: sandboxChannel, phones: z.array(z.string()) }).optional(),
  /** The sandbox's user: owner of the first account, and operator. */
  user: z
    .object({ email: z.string(), password: z.string() })
    .default(() => ({ email: 'owner@sandbox.example', password: newPassword() })),
});

export type InstallationFacts = z.infer<typeof installation>;

export class Installation {
  readonly #file: string;
  readonly facts: InstallationFacts;

  /** Reads the folder's file, or makes new secrets. @throws when the file is there but cannot be read */
  constructor(dataDir: string) {
    this.#file = join(dataDir, 'installation.json');
    const known = readIfThere(this.#file);
    this.facts = known === undefined ? newFacts() : installation.parse(JSON.parse(known));
    this.save(); // what was not in it yet stays as it is from now on
  }

  save(): void {
    const beside = `${this.#file}.new`;
    writeFileSync(beside, JSON.stringify(this.facts, undefined, 2), { mode: 0o600 });
    renameSync(beside, this.#file);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function newFacts(): InstallationFacts {
  return {
    masterKey: newKey(),
    masterKeyId: 'local-1',
    settingsKey: newKey(),
    settingsKeyId: 'local-settings-1',
    accountId: `acc_${randomBytes(12).toString('hex')}`,
    accountKey: `dmk_${randomBytes(32).toString('base64url')}`,
    operatorKey: newOperatorKey(),
    passwords: { postgres: newPassword(), redis: newPassword() },
    secrets: newSecrets(),
    objectKeys: { accessKeyId: 'dormouse', secretAccessKey: randomBytes(24).toString('base64url') },
    ports: {},
    user: { email: 'owner@sandbox.example', password: newPassword() },
  };
}

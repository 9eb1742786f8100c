/**
 * What a data folder remembers between starts: secrets, ports, the first account and the sandbox's channel. Losing the
 * master key would lose every linked session, so the file is replaced whole and only its owner can read it.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REGIONS, type Region } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { byApp, STORE_APPS } from '../app-names.js';
import type { RegionName } from '../stores/region-stores.js';

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
  /** Of our own PostgreSQL and Redis: of the account that may do everything. */
  passwords: z
    .object({ postgres: z.string(), redis: z.string() })
    .default(() => ({ postgres: newPassword(), redis: newPassword() })),
  /** Of each app's accounts in our own stores. */
  appPasswords: z.record(z.enum(STORE_APPS), z.string()).default(() => byApp(newPassword)),
  /** What signs sessions of users; what the control plane calls billing with; the keys of the simulated Stripe. */
  secrets: z
    .object({
      auth: z.string(),
      billing: z.string(),
      simulatedStripe: z.object({ secretKey: z.string(), webhookSecret: z.string() }),
    })
    .default(newSecrets),
  /** Those that were started. Channels made without a region are of the first. A file of before there were several has none. */
  regions: z.array(z.enum(REGIONS)).default(() => [REGIONS[0]]),
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

  /**
   * The regions of this start: those of earlier ones, and what is new in `wanted`.
   * @throws a sentence when `wanted` leaves one out: its channels could not be reached any more
   */
  regionsOfStart(wanted: readonly Region[] = []): (RegionName & { code: Region })[] {
    const known = this.facts.regions;
    const all = [...new Set([...known, ...wanted])];
    const missing = wanted.length === 0 ? [] : known.filter((code) => !wanted.includes(code));
    if (missing.length > 0) {
      throw new Error(
        `This data folder has the regions ${known.join(',')}: without ${missing.join(',')} its channels there could not be ` +
          `reached. Start with --regions ${all.join(',')}, without --regions, or with another folder (--data).`,
      );
    }
    const codes = all.length === 0 ? [REGIONS[0]] : all;
    return codes.map((code, position) => ({ code, position, suffix: position === 0 ? '' : `-${code}` }));
  }

  /** From now on a start without them is refused. */
  rememberRegions(regions: readonly { code: Region }[]): void {
    this.facts.regions = regions.map(({ code }) => code);
    this.save();
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
    appPasswords: byApp(newPassword),
    secrets: newSecrets(),
    objectKeys: { accessKeyId: 'dormouse', secretAccessKey: randomBytes(24).toString('base64url') },
    ports: {},
    regions: [],
    user: { email: 'owner@sandbox.example', password: newPassword() },
  };
}

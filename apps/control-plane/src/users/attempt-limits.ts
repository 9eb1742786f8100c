/**
 * How often somebody may try: sign-ups, sign-ins, mails that are sent on request, invitations.
 *
 * Guarantees: counted for each address and for each network (IPv4 address, IPv6 /64), in the global database, so that all
 * processes together keep to one limit; beyond it 429 with the exact time after which the next try is accepted. An attempt is
 * counted before it is carried out, so that many at once do not pass; one that succeeds is given back where only failures
 * count. The limit of an address is the same whether it belongs to a user or not. Addresses are stored as hashes.
 *
 * Without PostgreSQL nothing is counted and nothing is accepted: users are there too.
 */
import { createHash } from 'node:crypto';
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { addressBlock } from '@dormouse/public-addresses';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

/** Each in its window; 0: no limit. */
export interface AttemptSettings {
  /** In an hour. */
  signUpsPerAddress: number;
  signUpsPerNetwork: number;
  /** In 15 minutes. */
  failedSignInsPerAddress: number;
  failedSignInsPerNetwork: number;
  /** In an hour: verification, reset, change of address, invitation. */
  mailsPerAddress: number;
  mailsPerNetwork: number;
}

export const DEFAULT_ATTEMPTS: AttemptSettings = {
  signUpsPerAddress: 5,
  signUpsPerNetwork: 30,
  failedSignInsPerAddress: 10,
  failedSignInsPerNetwork: 100,
  mailsPerAddress: 5,
  mailsPerNetwork: 60,
};

const HOUR_S = 3_600;
const QUARTER_S = 900;

/** What is limited. */
export type Attempt = 'sign-up' | 'sign-in' | 'mail';

/** Who tries: the address that is named, or who it is about, and where the request comes from. */
export interface AttemptFrom {
  /** E-mail address, or the id of a user. */
  about: string;
  /** IP address of the request. */
  address: string;
}

const REFUSALS: Record<Attempt, string> = {
  'sign-up': 'too many sign-ups',
  'sign-in': 'too many failed sign-ins',
  mail: 'too many mails were requested',
};

interface Limiter {
  readonly of: 'this address' | 'this network';
  readonly limiter: RateLimiterPostgres;
  readonly keyOf: (from: AttemptFrom) => string;
}

export class AttemptLimits {
  readonly #limiters: Record<Attempt, Limiter[]>;

  constructor(database: Pick<GlobalDatabase, 'pool'>, settings: AttemptSettings = DEFAULT_ATTEMPTS) {
    const limiters = (attempt: Attempt, durationS: number, perAddress: number, perNetwork: number): Limiter[] => {
      const open = (points: number, kind: string) =>
        new RateLimiterPostgres({
          storeClient: database.pool,
          storeType: 'pool',
          tableName: 'attempt_counts',
          tableCreated: true,
          keyPrefix: `${attempt}-${kind}`,
          points,
          duration: durationS,
        });
      return [
        ...(perAddress === 0
          ? []
          : [{ of: 'this address', limiter: open(perAddress, 'address'), keyOf: addressKey } as const]),
        ...(perNetwork === 0
          ? []
          : [{ of: 'this network', limiter: open(perNetwork, 'network'), keyOf: networkKey } as const]),
      ];
    };
    this.#limiters = {
      'sign-up': limiters('sign-up', HOUR_S, settings.signUpsPerAddress, settings.signUpsPerNetwork),
      'sign-in': limiters('sign-in', QUARTER_S, settings.failedSignInsPerAddress, settings.failedSignInsPerNetwork),
      mail: limiters('mail', HOUR_S, settings.mailsPerAddress, settings.mailsPerNetwork),
    };
  }

  /**
   * Counts an attempt. Call before anything is done.
   * @throws {GatewayError} 429 with Retry-After beyond a limit; {Error} when the database is away
   */
  async count(attempt: Attempt, from: AttemptFrom): Promise<void> {
    for (const { of, limiter, keyOf } of this.#limiters[attempt]) {
      try {
        await limiter.consume(keyOf(from));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw new GatewayError(429, {
          details: `${REFUSALS[attempt]} ${attempt === 'sign-in' ? 'for' : 'from'} ${of}; try again later`,
          retryAfterS: Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)),
        });
      }
    }
  }

  /** Takes back an attempt that succeeded, where only failures count. */
  async giveBack(attempt: Attempt, from: AttemptFrom): Promise<void> {
    for (const { limiter, keyOf } of this.#limiters[attempt]) await limiter.reward(keyOf(from));
  }
}

function addressKey({ about }: AttemptFrom): string {
  return createHash('sha256').update(about.toLowerCase()).digest('base64url');
}

function networkKey({ address }: AttemptFrom): string {
  return addressBlock(address);
}

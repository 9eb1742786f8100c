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

/** How many in the window; 0: no limit. */
export interface AttemptLimit {
  /** For one e-mail address, or one user. */
  perAddress: number;
  perNetwork: number;
}

export interface AttemptSettings {
  /** In an hour. */
  signUps: AttemptLimit;
  /** In 15 minutes. */
  failedSignIns: AttemptLimit;
  /** In an hour: verification, reset, change of address, invitation. */
  mails: AttemptLimit;
}

export const DEFAULT_ATTEMPTS: AttemptSettings = {
  signUps: { perAddress: 5, perNetwork: 30 },
  failedSignIns: { perAddress: 10, perNetwork: 100 },
  mails: { perAddress: 5, perNetwork: 60 },
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

  constructor(database: Pick<GlobalDatabase, 'pool'>, { signUps, failedSignIns, mails } = DEFAULT_ATTEMPTS) {
    this.#limiters = {
      'sign-up': limitersOf(database, 'sign-up', HOUR_S, signUps),
      'sign-in': limitersOf(database, 'sign-in', QUARTER_S, failedSignIns),
      mail: limitersOf(database, 'mail', HOUR_S, mails),
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

function limitersOf(
  { pool }: Pick<GlobalDatabase, 'pool'>,
  attempt: Attempt,
  durationS: number,
  limit: AttemptLimit,
): Limiter[] {
  const kinds = [
    { of: 'this address', points: limit.perAddress, name: 'address', keyOf: addressKey },
    { of: 'this network', points: limit.perNetwork, name: 'network', keyOf: networkKey },
  ] as const;
  return kinds
    .filter(({ points }) => points > 0)
    .map(({ of, points, name, keyOf }) => ({
      of,
      keyOf,
      limiter: new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        tableName: 'attempt_counts',
        tableCreated: true,
        keyPrefix: `${attempt}-${name}`,
        points,
        duration: durationS,
      }),
    }));
}

function addressKey({ about }: AttemptFrom): string {
  return createHash('sha256').update(about.toLowerCase()).digest('base64url');
}

function networkKey({ address }: AttemptFrom): string {
  return addressBlock(address);
}

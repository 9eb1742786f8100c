/**
 * Rate limits of the management API: for each account, and for each address that presents unknown keys.
 *
 * Requests are counted in the memory of each process, in windows of a minute: with n processes a caller gets at most n
 * times the limit. IPv6 addresses are counted by their network (/64). An address beyond its limit is refused before the
 * database is queried. Keys that were valid recently still pass from there, so that customers behind the same address or
 * proxy are not locked out.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { addressBlock } from '@dormouse/public-addresses';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { hashAccountKey } from './account-key.js';

export interface RequestLimitsOptions {
  /** Requests of an account, or of an operator, in a minute; 0: no limit. */
  perAccount: number;
  /** Requests with unknown keys from one address in a minute; 0: no limit. */
  badKeysPerAddress: number;
}

const WINDOW_S = 60;
const MAX_GOOD_KEYS = 10_000;

export class RequestLimits {
  readonly #accounts: RateLimiterMemory | undefined;
  readonly #addresses: RateLimiterMemory | undefined;
  /** Hashes of keys that were valid recently, the least recently used first. */
  readonly #goodKeys = new Set<string>();

  constructor({ perAccount, badKeysPerAddress }: RequestLimitsOptions) {
    this.#accounts = perAccount === 0 ? undefined : limiterOf(perAccount);
    this.#addresses = badKeysPerAddress === 0 ? undefined : limiterOf(badKeysPerAddress);
  }

  /** Call before a key is looked up. @throws {GatewayError} 429 for an address that has presented too many unknown keys */
  async requireNotBlocked(address: string, key: string): Promise<void> {
    const state = await this.#addresses?.get(addressBlock(address));
    if (!state || state.remainingPoints > 0 || this.#goodKeys.has(nameOf(key))) return;
    throw tooMany('too many requests with unknown keys from this address', state);
  }

  /** Counts a request with an unknown key. */
  async countBadKey(address: string, key: string): Promise<void> {
    this.#goodKeys.delete(nameOf(key));
    await this.#addresses?.consume(addressBlock(address)).catch(() => undefined);
  }

  /**
   * Counts a request of an account or a user.
   * @param key the valid key that it came with; absent for a session
   * @throws {GatewayError} 429 beyond the limit
   */
  async countRequest(holder: string, key?: string): Promise<void> {
    if (key !== undefined) this.#remember(key);
    try {
      await this.#accounts?.consume(holder);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw tooMany('too many requests from this account', refusal);
    }
  }

  #remember(key: string): void {
    const name = nameOf(key);
    this.#goodKeys.delete(name);
    this.#goodKeys.add(name);
    const [oldest] = this.#goodKeys;
    if (this.#goodKeys.size > MAX_GOOD_KEYS && oldest !== undefined) this.#goodKeys.delete(oldest);
  }
}

function limiterOf(points: number): RateLimiterMemory {
  return new RateLimiterMemory({ points, duration: WINDOW_S });
}

function nameOf(key: string): string {
  return hashAccountKey(key).toString('base64');
}

function tooMany(details: string, { msBeforeNext }: RateLimiterRes): GatewayError {
  return new GatewayError(429, { details, retryAfterS: Math.max(1, Math.ceil(msBeforeNext / 1_000)) });
}

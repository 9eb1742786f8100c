/**
 * How much one account, and one address with keys that nobody has, may ask of the management API.
 *
 * Counted in the memory of each control plane, in windows of a minute: with n of them a caller gets n times as much at
 * most. IPv6 addresses count by their network (/64). An address that guesses is refused before the database is asked; keys that were good lately still pass from
 * there, so that nobody behind the same address or proxy is shut out.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import { addressBlock } from '@dormouse/public-addresses';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { hashAccountKey } from './account-key.js';

export interface RequestLimitsOptions {
  /** Requests of an account, or of an operator, in a minute; 0: no limit. */
  perAccount: number;
  /** Requests of an address with keys that are not known, in a minute; 0: no limit. */
  badKeysPerAddress: number;
}

const WINDOW_S = 60;
const MAX_GOOD_KEYS = 10_000;

export class RequestLimits {
  readonly #accounts: RateLimiterMemory | undefined;
  readonly #addresses: RateLimiterMemory | undefined;
  /** Hashes of keys that were good lately, oldest first. */
  readonly #goodKeys = new Set<string>();

  constructor({ perAccount, badKeysPerAddress }: RequestLimitsOptions) {
    this.#accounts = perAccount === 0 ? undefined : limiterOf(perAccount);
    this.#addresses = badKeysPerAddress === 0 ? undefined : limiterOf(badKeysPerAddress);
  }

  /** Before a key is looked up. @throws {GatewayError} 429 for an address that has presented too many bad ones */
  async requireWelcome(address: string, key: string): Promise<void> {
    const state = await this.#addresses?.get(addressBlock(address));
    if (!state || state.remainingPoints > 0 || this.#goodKeys.has(nameOf(key))) return;
    throw tooMany('too many requests with keys that are not known from this address', state);
  }

  /** A key was not known. */
  async noteBadKey(address: string, key: string): Promise<void> {
    this.#goodKeys.delete(nameOf(key));
    await this.#addresses?.consume(addressBlock(address)).catch(() => undefined);
  }

  /** Counts a request of whoever the key belongs to. @throws {GatewayError} 429 beyond the limit */
  async take(holder: string, key: string): Promise<void> {
    const name = nameOf(key);
    this.#goodKeys.delete(name);
    this.#goodKeys.add(name);
    const [oldest] = this.#goodKeys;
    if (this.#goodKeys.size > MAX_GOOD_KEYS && oldest !== undefined) this.#goodKeys.delete(oldest);
    try {
      await this.#accounts?.consume(holder);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw tooMany('too many requests of this account', refusal);
    }
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

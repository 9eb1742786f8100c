/**
 * Attempts to link a channel: the codes of the one that runs, and when the next may begin.
 *
 * What it guarantees: however often a code is requested, and by any caller, a channel opens no new socket before the growing,
 * jittered delay after its last failed attempt is over; in between callers get the reason and the time to retry. What is known of
 * failures outlives the session object, which is dropped while no caller waits for a code.
 */
import type { LoginCode } from '@dormouse/gateway-contract';
import { CODES_USED_UP, isProxyTrouble, type CloseReason } from '../socket/close-reasons.js';
import { ReconnectBackoff, type BackoffLimits } from './reconnect-backoff.js';
import { notConnected, proxyTrouble } from './session-identity.js';

/** Baileys shows the first code of a pairing for a minute, each later one for 20 s. */
const FIRST_CODE_MS = 60_000;
const LATER_CODE_MS = 20_000;
/** The network offers six codes for one pairing, and ends it when the last has expired. */
const PAIRING_MS = FIRST_CODE_MS + 5 * LATER_CODE_MS;
/** A code of letters takes longer to enter than to scan: with less time left, a new pairing is begun for it. */
const SHORTEST_LETTERS_MS = 90_000;

/** A channel's last attempts that failed. */
interface Failures {
  readonly backoff: ReconnectBackoff;
  reason: CloseReason;
  nextAtMs: number;
}

/** Failed attempts to link, of all channels of this worker. */
export class LinkFailures {
  /** The longest unchanged first. */
  private readonly channels = new Map<string, Failures>();

  constructor(
    private readonly limits: BackoffLimits,
    private readonly now: () => number,
    /** Uniform in [0, 1). */
    private readonly random: () => number = Math.random,
  ) {}

  add(channelId: string, reason: CloseReason): void {
    const { backoff } = this.channels.get(channelId) ?? {
      backoff: new ReconnectBackoff(this.limits, this.now, this.random),
    };
    this.channels.delete(channelId);
    // A person is waiting: there is always another attempt, after the longest delay at most.
    const delayMs = backoff.afterClose(true) ?? this.limits.maxDelayMs;
    this.channels.set(channelId, { backoff, reason, nextAtMs: this.now() + delayMs });
    this.forgetOld();
  }

  /** Why and for how long no attempt may be made now; undefined when one may. */
  wait(channelId: string): { reason: CloseReason; forMs: number } | undefined {
    const failures = this.channels.get(channelId);
    const forMs = failures ? failures.nextAtMs - this.now() : 0;
    return failures && forMs > 0 ? { reason: failures.reason, forMs } : undefined;
  }

  forget(channelId: string): void {
    this.channels.delete(channelId);
  }

  /** Other settings may have corrected what kept the proxy from connecting. */
  settingsChanged(channelId: string): void {
    if (isProxyTrouble(this.channels.get(channelId)?.reason.name ?? null)) this.forget(channelId);
  }

  private forgetOld(): void {
    for (const [channelId, { nextAtMs }] of this.channels) {
      if (nextAtMs + this.limits.windowMs > this.now()) return;
      this.channels.delete(channelId);
    }
  }
}

/** The attempts of one channel. */
export class Linking {
  private code: LoginCode | undefined;
  private letters: (LoginCode & { phone: string }) | undefined;
  private offered = 0;
  private endsAtMs = 0;

  constructor(
    private readonly channelId: string,
    private readonly failures: LinkFailures,
    private readonly now: () => number,
  ) {}

  offer(code: string): void {
    if (this.offered === 0) this.endsAtMs = this.now() + PAIRING_MS;
    const livesMs = this.offered++ === 0 ? FIRST_CODE_MS : LATER_CODE_MS;
    this.code = { code, expiresAtMs: this.now() + livesMs };
  }

  /** The code that the network still accepts. */
  get current(): LoginCode | undefined {
    return this.code && this.code.expiresAtMs > this.now() ? this.code : undefined;
  }

  /** The network takes these letters from the phone of this number, as long as the pairing lasts. */
  offerLetters(phone: string, code: string): void {
    this.letters = { phone, code, expiresAtMs: this.endsAtMs };
  }

  /** The letters for this number; the same for every caller until they expire. */
  lettersFor(phone: string): LoginCode | undefined {
    const { letters } = this;
    if (letters?.phone !== phone || letters.expiresAtMs <= this.now()) return undefined;
    return { code: letters.code, expiresAtMs: letters.expiresAtMs };
  }

  /** Whether letters that are requested now can be entered in good time. */
  get lastsForLetters(): boolean {
    return this.endsAtMs - this.now() >= SHORTEST_LETTERS_MS;
  }

  /** The socket is gone, and with it its codes. */
  clear(): void {
    this.code = undefined;
    this.letters = undefined;
    this.offered = 0;
  }

  /**
   * An attempt failed.
   * @returns what is stored of it: only what its customer can correct
   */
  failed(reason: CloseReason): { reason: string | null } {
    // The network has offered all its codes and none was scanned: that is no refusal, and takes minutes by itself.
    if (reason !== CODES_USED_UP) this.failures.add(this.channelId, reason);
    return { reason: isProxyTrouble(reason.name) ? reason.name : null };
  }

  succeeded(): void {
    this.failures.forget(this.channelId);
  }

  /**
   * @param waited the caller has waited for an attempt already, which is over
   * @throws {GatewayError} 503 with the reason why no attempt begins for the caller, and when to retry
   */
  assertMayBegin(waited: boolean): void {
    const wait = this.failures.wait(this.channelId);
    if (!wait && !waited) return;
    if (!wait) throw notConnected('no code was scanned before the last one expired: request another', 1);
    const retryAfterS = Math.max(1, Math.ceil(wait.forMs / 1_000));
    const { name } = wait.reason;
    const why = proxyTrouble(name) ?? `the last attempt to link failed (${name}): retry in ${retryAfterS} s`;
    throw notConnected(why, retryAfterS);
  }
}

/**
 * What a person who links a channel must see now: a code that is valid, that the number is linked, or why there is no code.
 *
 * Guarantees: a code is sent while it is valid only, and the next one as soon as the network offers it; the present one comes first
 * after every reconnect. A pairing that ended is begun again by itself, until nobody has used a code for `lastsMs`. Nothing is sent twice.
 * PostgreSQL of the region or its worker away: `failed` with the reason, and another try after a few seconds.
 */
import { channelOverviews, type ChannelOverview } from '@dormouse/channel-directory';
import { GatewayError, PROXY_REASONS, type LoginCode } from '@dormouse/gateway-contract';
import type { LoginFailure, LoginStep } from '@dormouse/management-contract';
import type { RegionLink } from '../regions/regions.js';
import type { StreamContent, StreamTurn } from '../streams/channel-streams.js';

export interface LoginWatchOptions {
  link: Pick<RegionLink, 'run' | 'command'>;
  channelId: string;
  /** Digits of the number whose phone the letters are entered on; undefined: a code to scan. */
  phone: string | undefined;
  requestId: string;
  /** Aborted when nobody looks any more: a code that no worker has begun to make is not made then. */
  gaveUp?: AbortSignal;
  /** Epoch milliseconds. */
  now?: () => number;
  /** How long codes are offered without being used. */
  lastsMs?: number;
}

const READ_TIMEOUT_MS = 2_000;
const WORKER_STARTS_WITHIN_MS = 5_000;
const WORKER_ANSWERS_WITHIN_MS = 30_000;
const AGAIN_MS = 5_000;
/** A single failure that passes as soon is not worth a word: a pairing ends after its last code, and the next begins. */
const SOON_MS = 2_000;
/** The name of a number comes some moments after its link. */
const NAME_WITHIN_MS = 10_000;
const LASTS_MS = 900_000;

interface Failure {
  reason: LoginFailure;
  details: string;
  /** When it is tried again, in epoch milliseconds; undefined: never. */
  againAtMs: number | undefined;
}

export class LoginWatch implements StreamContent {
  readonly #now: () => number;
  readonly #startedAtMs: number;
  #sent = '';
  #linkedAtMs: number | undefined;
  #code: LoginCode | undefined;
  #failure: Failure | undefined;
  #failures = 0;
  #isCalling = false;
  /** The state of the session that the last call was made in. */
  #calledIn = '';

  constructor(private readonly options: LoginWatchOptions) {
    this.#now = options.now ?? Date.now;
    this.#startedAtMs = this.#now();
  }

  async next(wake: () => void): Promise<StreamTurn> {
    const overview = await this.#read();
    const step = overview === 'away' ? AWAY : overview === undefined ? DELETED : this.#stepOf(overview, wake);
    return this.#turn(step);
  }

  /** The first step there is, for a request without a stream. @throws {GatewayError} 400, 404, 503 instead of `failed` */
  async first(): Promise<LoginStep> {
    for (;;) {
      let wake = (): void => undefined;
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const overview = await this.#read();
      const step = overview === 'away' ? AWAY : overview === undefined ? DELETED : this.#stepOf(overview, wake);
      if (step?.event === 'failed') throw errorOf(step);
      if (step) return step;
      const again = setTimeout(wake, SOON_MS);
      await woken;
      clearTimeout(again);
    }
  }

  #stepOf(overview: ChannelOverview, wake: () => void): LoginStep | undefined {
    const { linked, phone, pushName } = overview.session;
    const nowMs = this.#now();
    if (linked) {
      this.#linkedAtMs ??= nowMs;
      return { event: 'linked', phone: phone ?? '', ...(pushName === null ? {} : { name: pushName }) };
    }
    if (nowMs - this.#startedAtMs > (this.options.lastsMs ?? LASTS_MS)) {
      return { event: 'failed', reason: 'stopped', details: 'no code was used for a long time: request another' };
    }
    this.#callIfDue(overview, wake);
    const code = this.#code;
    if (code && code.expiresAtMs > nowMs) {
      const by = this.options.phone === undefined ? 'scan' : 'phone';
      const [valid_until, valid_ms] = [code.expiresAtMs, code.expiresAtMs - nowMs];
      return { event: 'code', by, code: code.code, valid_until, valid_ms };
    }
    return this.#failure && failedStep(this.#failure, nowMs);
  }

  #turn(step: LoginStep | undefined): StreamTurn {
    if (!step) return { frames: [], then: 'wait' };
    const key = JSON.stringify({ ...step, valid_ms: 0, retry_after_s: 0 });
    const frames = key === this.#sent ? [] : [frameOf(step)];
    this.#sent = key;
    return { frames, ...this.#after(step) };
  }

  #after(step: LoginStep): Pick<StreamTurn, 'then' | 'withinMs'> {
    switch (step.event) {
      case 'code':
        return { then: 'wait', withinMs: step.valid_ms };
      case 'failed':
        if (step.retry_after_s === undefined) return { then: 'end' };
        return { then: 'wait', withinMs: step.retry_after_s * 1_000 };
      case 'linked': {
        const leftMs = NAME_WITHIN_MS - (this.#now() - (this.#linkedAtMs ?? 0));
        return step.name !== undefined || leftMs <= 0 ? { then: 'end' } : { then: 'wait', withinMs: leftMs };
      }
    }
  }

  /** Requests the present code from the worker if the one here is not it any more. One request at a time. */
  #callIfDue({ shard, session }: ChannelOverview, wake: () => void): void {
    const nowMs = this.#now();
    const state = `${session.state} ${session.sinceMs}`;
    const isPresent = this.#code && this.#code.expiresAtMs > nowMs && this.#calledIn === state;
    const waits = this.#failure && (this.#failure.againAtMs === undefined || this.#failure.againAtMs > nowMs);
    if (this.#isCalling || isPresent || waits) return;
    this.#isCalling = true;
    this.#calledIn = state;
    const proxy = PROXY_REASONS.find((name) => name === session.reason);
    void this.#call(shard)
      .then(
        (code) => this.#offered(code),
        (error: unknown) => this.#failed(error, proxy),
      )
      .finally(() => {
        this.#isCalling = false;
        wake();
      });
  }

  #call(shard: number): Promise<LoginCode> {
    const { link, channelId, phone, requestId, gaveUp } = this.options;
    const times = { startWithinMs: WORKER_STARTS_WITHIN_MS, answerWithinMs: WORKER_ANSWERS_WITHIN_MS };
    const channel = { id: channelId, shard };
    const options = { requestId, gaveUp, ...times };
    if (phone === undefined) return link.command(channel, 'channel.loginCode', {}, options);
    return link.command(channel, 'channel.phoneCode', { phone }, options);
  }

  #offered(code: LoginCode): void {
    this.#code = code;
    this.#failure = undefined;
    this.#failures = 0;
  }

  #failed(error: unknown, proxy: LoginFailure | undefined): void {
    this.#code = undefined;
    const status = error instanceof GatewayError ? error.status : 502;
    if (status === 403) return; // linked a moment ago: the record shows it
    const details = (error instanceof GatewayError ? error.details : undefined) ?? 'the worker of the channel failed';
    if (status === 400) {
      this.#failure = { reason: 'phone_refused', details, againAtMs: undefined };
      return;
    }
    const reason = proxy ?? 'unavailable';
    const againInMs = error instanceof GatewayError && error.retryAfterS ? error.retryAfterS * 1_000 : AGAIN_MS;
    this.#failures += 1;
    const isSilent = this.#failures === 1 && againInMs <= SOON_MS;
    this.#failure = isSilent ? undefined : { reason, details, againAtMs: this.#now() + againInMs };
  }

  async #read(): Promise<ChannelOverview | undefined | 'away'> {
    const { link, channelId } = this.options;
    const reading = link.run(
      async (_directory, { pool }) => (await channelOverviews(pool, [channelId])).get(channelId),
      READ_TIMEOUT_MS,
    );
    return reading.catch(() => 'away' as const);
  }
}

const AWAY: LoginStep = {
  event: 'failed',
  reason: 'region_away',
  details: 'the region does not answer',
  retry_after_s: AGAIN_MS / 1_000,
};
const DELETED: LoginStep = { event: 'failed', reason: 'deleted', details: 'the channel was deleted' };

function failedStep({ reason, details, againAtMs }: Failure, nowMs: number): LoginStep {
  const again = againAtMs === undefined ? {} : { retry_after_s: Math.max(1, Math.ceil((againAtMs - nowMs) / 1_000)) };
  return { event: 'failed', reason, details, ...again };
}

function frameOf(step: LoginStep): string {
  return `event: ${step.event}\ndata: ${JSON.stringify(step)}\n\n`;
}

function errorOf(step: Extract<LoginStep, { event: 'failed' }>): GatewayError {
  const { reason, details, retry_after_s: retryAfterS } = step;
  if (reason === 'deleted') return new GatewayError(404, { message: 'channel not found' });
  if (reason === 'phone_refused') return new GatewayError(400, { details });
  return new GatewayError(503, { details, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
}

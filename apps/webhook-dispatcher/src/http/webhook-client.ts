import { guardedConnector } from '@dormouse/public-addresses';
import { Agent } from 'undici';
import { Exchange, type Received } from './exchange.js';
import type { WebhookRequest } from './webhook-request.js';

/** The outcome of one call. */
export type Answer =
  /** 2xx: the event is the receiver's now. `text`: the beginning of the answer's body. */
  | { kind: 'accepted'; status: number; text: string }
  /** Any other status. `redirectsTo`: the address a redirect names, as text for people. */
  | { kind: 'refused'; status: number; text: string; redirectsTo?: string }
  /** No status: the receiver may or may not have seen the event. */
  | { kind: 'unanswered'; reason: UnansweredReason }
  /** We ended the call ourselves to stop in time. */
  | { kind: 'abandoned' };

export type UnansweredReason =
  | 'timeout'
  | 'name not found'
  | 'connection refused'
  | 'connection lost'
  | 'certificate not accepted'
  | 'address not public'
  | 'request not possible'
  | 'network error';

export interface WebhookClientOptions {
  /** A receiver that has not sent its status by then has failed. */
  timeoutMs: number;
  connectionsPerHost: number;
  /** Loopback and private networks too: for development and the sandbox. */
  allowPrivate: boolean;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const ADDRESS_LENGTH = 500;
/** A connection that broke this soon had been closed by the receiver while it lay idle. */
const WAS_STALE_WITHIN_MS = 500;

/**
 * Posts to customers' URLs over kept connections. Redirects are not followed, and what the receiver sends beyond its
 * status is read only to keep the connection.
 */
export class WebhookClient {
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  readonly #underWay = new Set<Call>();
  #stopped = false;

  constructor({ timeoutMs, connectionsPerHost, allowPrivate }: WebhookClientOptions) {
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({
      connect: guardedConnector({ allowPrivate, connectTimeoutMs: timeoutMs }),
      connections: connectionsPerHost,
      pipelining: 1,
      keepAliveTimeout: 20_000,
      keepAliveMaxTimeout: 60_000,
      // The deadline of the whole call is ours; these must not end it earlier.
      headersTimeout: timeoutMs * 2,
      bodyTimeout: timeoutMs * 2,
    });
  }

  /** Makes the call, once; a kept connection that turns out to be dead is replaced. Never throws. */
  async post(request: WebhookRequest): Promise<Answer> {
    if (this.#stopped) return { kind: 'abandoned' };
    const call = new Call(this.#agent, request, this.#timeoutMs);
    this.#underWay.add(call);
    try {
      return answerOf(await call.make(), request);
    } catch (error) {
      if (call.endedBy === 'stop') return { kind: 'abandoned' };
      return { kind: 'unanswered', reason: call.endedBy ?? reasonOf(error) };
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** Ends the calls that are under way and makes no new ones: each resolves as abandoned. */
  abandonAll(): void {
    this.#stopped = true;
    for (const call of this.#underWay) call.end('stop');
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** A request that is made until its status is there, its time is over, or we stop. */
class Call {
  endedBy: 'timeout' | 'stop' | undefined;
  #exchange: Exchange | undefined;

  constructor(
    private readonly agent: Agent,
    private readonly request: WebhookRequest,
    private readonly timeoutMs: number,
  ) {}

  /** @throws the error of the connection, or any after `end` */
  async make(): Promise<Received> {
    const startedAtMs = performance.now();
    const timer = setTimeout(() => this.end('timeout'), this.timeoutMs);
    const onStatus = (): void => clearTimeout(timer);
    try {
      return await this.#once(onStatus);
    } catch (error) {
      const isStale = isConnectionLoss(error) && performance.now() - startedAtMs < WAS_STALE_WITHIN_MS;
      if (!isStale || this.endedBy) throw error;
      return await this.#once(onStatus);
    } finally {
      clearTimeout(timer);
    }
  }

  end(by: 'timeout' | 'stop'): void {
    this.endedBy ??= by;
    this.#exchange?.abort(new Error(by));
  }

  #once(onStatus: () => void): Promise<Received> {
    this.#exchange = new Exchange(this.agent, this.request, onStatus);
    return this.#exchange.received;
  }
}

function answerOf({ status, location, text }: Received, { url }: WebhookRequest): Answer {
  if (status >= 200 && status < 300) return { kind: 'accepted', status, text };
  const redirectsTo = REDIRECTS.has(status) ? addressOf(location, url) : undefined;
  return { kind: 'refused', status, text, ...(redirectsTo !== undefined && { redirectsTo }) };
}

/** The absolute address a Location header names, without credentials, bounded, in visible ASCII. */
function addressOf(location: string | string[] | undefined, from: URL): string | undefined {
  const [named] = [location ?? []].flat();
  if (named === undefined || !URL.canParse(named, from.href)) return undefined;
  const address = new URL(named, from.href);
  address.username = '';
  address.password = '';
  return address.href.replace(/[^\x21-\x7e]/g, '').slice(0, ADDRESS_LENGTH);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

function isConnectionLoss(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(error));
}

/** Codes of Node's network stack, of OpenSSL's certificate checks and of the HTTP client, in words for the customer. */
function reasonOf(error: unknown): UnansweredReason {
  const code = codeOf(error);
  if (isConnectionLoss(error)) return 'connection lost';
  if (code === 'ADDRESS_REFUSED') return 'address not public';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'name not found';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout';
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return 'request not possible';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) return 'certificate not accepted';
  return 'network error';
}

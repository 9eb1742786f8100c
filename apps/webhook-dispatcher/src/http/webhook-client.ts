import { guardedConnector } from '@dormouse/public-addresses';
import { Agent, type Dispatcher } from 'undici';
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

/** Of an answer's body at most this much is read, for at most this long; then the connection is closed instead. */
const READ_AT_MOST_BYTES = 4_096;
const READ_WITHIN_MS = 1_000;
/** Part of that which is recorded. */
const KEPT_BYTES = 1_024;
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
  readonly #underWay = new Set<AbortController>();
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
    const deadline = new AbortController();
    const startedAtMs = performance.now();
    const timer = setTimeout(() => deadline.abort('timeout'), this.#timeoutMs);
    this.#underWay.add(deadline);
    try {
      return await this.#call(request, deadline, timer).catch(async (error: unknown) => {
        const isStale = isConnectionLoss(error) && performance.now() - startedAtMs < WAS_STALE_WITHIN_MS;
        if (!isStale) throw error;
        return this.#call(request, deadline, timer);
      });
    } catch (error) {
      if (deadline.signal.aborted && deadline.signal.reason === 'stop') return { kind: 'abandoned' };
      return { kind: 'unanswered', reason: deadline.signal.aborted ? 'timeout' : reasonOf(error) };
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(deadline);
    }
  }

  /** Ends the calls that are under way and makes no new ones: each resolves as abandoned. */
  abandonAll(): void {
    this.#stopped = true;
    for (const deadline of this.#underWay) deadline.abort('stop');
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #call(request: WebhookRequest, deadline: AbortController, timer: NodeJS.Timeout): Promise<Answer> {
    const { statusCode, headers, body } = await this.#agent.request({
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: deadline.signal,
    });
    clearTimeout(timer);
    const text = await beginningOf(body);
    if (statusCode >= 200 && statusCode < 300) return { kind: 'accepted', status: statusCode, text };
    const redirectsTo = REDIRECTS.has(statusCode) ? addressOf(headers['location'], request.url) : undefined;
    return { kind: 'refused', status: statusCode, text, ...(redirectsTo !== undefined && { redirectsTo }) };
  }
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

/** The status is known: whatever happens to the rest of the answer changes nothing. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const late = setTimeout(() => body.destroy(), READ_WITHIN_MS);
  const kept: Buffer[] = [];
  let readBytes = 0;
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue;
      if (readBytes < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - readBytes));
      readBytes += chunk.length;
      if (readBytes > READ_AT_MOST_BYTES) break;
    }
  } catch {
    // broken off, or too slow: what was read until then is kept
  } finally {
    clearTimeout(late);
  }
  return textOf(Buffer.concat(kept));
}

/** As text that PostgreSQL accepts: without NUL, and without half a character at the end. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '');
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

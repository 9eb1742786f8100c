/**
 * Downloads files that customers name by URL: from public addresses only, within bounds of time, size and redirects, as a
 * stream. Every redirect passes the same checks. Requests carry nothing of the gateway (credentials, proxies, cookies).
 */
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatewayError } from '@dormouse/gateway-contract';
import { AddressRefused, guardedConnector, type AddressGuardOptions } from '@dormouse/public-addresses';
import { Agent, request, type Dispatcher } from 'undici';
import { dispositionName } from './disposition.js';

export interface DownloaderOptions extends AddressGuardOptions {
  /** Idle timeout in milliseconds, before and within the answer. */
  idleTimeoutMs?: number;
  /** Timeout of a whole download in milliseconds, redirects included. */
  totalTimeoutMs?: number;
  maxRedirects?: number;
}

/** An answered download. Its stream must be consumed or destroyed. */
export interface Download {
  stream: Readable;
  /** The server's claims; neither type nor size nor name can be trusted. */
  claimedSize: number | undefined;
  claimedType: string | undefined;
  claimedName: string | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

function refused(field: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError(400, { details: `${field}: ${reason}` }, { cause });
}

/** Why a download failed, for the customer: our own words and a system error's code, nothing else of it. */
export function downloadFailure(error: unknown, field: string): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof AddressRefused) return refused(field, 'the URL leads to an address that is not public', error);
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const name: unknown = typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  if (name === 'TimeoutError' || /TIMEOUT/.test(String(code)))
    return refused(field, 'the download took too long', error);
  return refused(field, `could not be downloaded${typeof code === 'string' ? ` (${code})` : ''}`, error);
}

export class Downloader {
  readonly #agent: Agent;
  readonly #maxRedirects: number;
  readonly #totalTimeoutMs: number;

  constructor(options: DownloaderOptions = {}) {
    const idleMs = options.idleTimeoutMs ?? 15_000;
    this.#maxRedirects = options.maxRedirects ?? 5;
    this.#totalTimeoutMs = options.totalTimeoutMs ?? 120_000;
    this.#agent = new Agent({
      connect: guardedConnector(options),
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      keepAliveTimeout: 4_000,
      pipelining: 1,
    });
  }

  /**
   * Opens a URL for reading.
   * @throws {GatewayError} 400 naming `field` for an address that is not public, a failed or endless download, too many
   * redirects, or an answer that is not 2xx; the signal's reason when the caller gives up
   */
  async open(url: URL, field = 'media', signal?: AbortSignal): Promise<Download> {
    const limits = [AbortSignal.timeout(this.#totalTimeoutMs), ...(signal ? [signal] : [])];
    try {
      return await this.#follow(url, field, AbortSignal.any(limits));
    } catch (error) {
      signal?.throwIfAborted();
      throw downloadFailure(error, field);
    }
  }

  async #follow(start: URL, field: string, signal: AbortSignal): Promise<Download> {
    let url = start;
    for (let redirects = 0; redirects <= this.#maxRedirects; redirects += 1) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        throw refused(field, 'leads to a URL that is not http(s)');
      if (url.username !== '' || url.password !== '') throw refused(field, 'must be a URL without user and password');
      const answer = await request(url, {
        dispatcher: this.#agent,
        signal,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Dormouse/1.0 (media download)' },
      });
      const location = REDIRECTS.has(answer.statusCode) ? headerOf(answer, 'location') : undefined;
      if (location === undefined) return opened(answer, url, field);
      discard(answer);
      if (!URL.canParse(location, url.href)) throw refused(field, 'leads to an invalid redirect');
      url = new URL(location, url);
    }
    throw refused(field, `leads to more than ${this.#maxRedirects} redirects`);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function headerOf(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Discards an answer that is not read; later errors of its stream are ignored. */
function discard(answer: Dispatcher.ResponseData): void {
  answer.body.on('error', () => undefined);
  answer.body.destroy();
}

function opened(answer: Dispatcher.ResponseData, url: URL, field: string): Download {
  if (answer.statusCode < 200 || answer.statusCode >= 300) {
    discard(answer);
    throw refused(field, `could not be downloaded (HTTP ${answer.statusCode})`);
  }
  const encoding = headerOf(answer, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  const length = headerOf(answer, 'content-length');
  return {
    stream: decoded(answer, encoding, field),
    claimedSize: encoding === 'identity' && length !== undefined ? Number(length) : undefined,
    claimedType: headerOf(answer, 'content-type'),
    claimedName: dispositionName(headerOf(answer, 'content-disposition')) ?? lastPart(url),
  };
}

/** Some servers compress although the request does not accept it. */
function decoded(answer: Dispatcher.ResponseData, encoding: string, field: string): Readable {
  if (encoding === 'identity' || encoding === '') return answer.body;
  const decoder = Object.entries(DECODERS).find(([name]) => name === encoding)?.[1]();
  if (!decoder) {
    discard(answer);
    throw refused(field, `comes in an unknown encoding (${encoding.slice(0, 20)})`);
  }
  // The callback keeps a failure from being unhandled; the reader of the decoder sees it, too.
  return pipeline(answer.body, decoder, () => undefined);
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function lastPart(url: URL): string | undefined {
  const part = url.pathname.split('/').pop();
  return part ? decodePercent(part) : undefined;
}

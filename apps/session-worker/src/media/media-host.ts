/**
 * The network's file host, for reading. Messages say where their file is, and a message is written by a stranger: a file
 * is only ever fetched from the network's own hosts, and those only at public addresses.
 */
import type { Readable } from 'node:stream';
import { guardedConnector } from '@dormouse/public-addresses';
import { Agent, request, type Dispatcher } from 'undici';
import { WEB_CLIENT_ORIGIN } from '../socket/files/network-files.js';

const DEFAULT_MEDIA_ORIGIN = 'https://mmg.whatsapp.net';
const NETWORK_HOST = /^(?:[a-z0-9-]+\.)+whatsapp\.net$/i;

/** The host has no file under this path (any more): 403, 404 or 410. */
export class FileGone extends Error {
  constructor(readonly status: number) {
    super(`the network has no such file (${status})`);
    this.name = 'FileGone';
  }
}

/** The host did not give the file, but may later. */
export class HostFailed extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the network's file host: ${what}`, options);
    this.name = 'HostFailed';
  }
}

/** Where a message says its file is. */
export interface FilePlace {
  directPath: string | undefined;
  url: string | undefined;
}

export interface MediaHostOptions {
  /** A simulated network's host, e.g. `https://127.0.0.1:4500`; all files come from there. Absent: the real ones. */
  origin?: string | undefined;
  idleTimeoutMs?: number;
}

const GONE = new Set([403, 404, 410]);

export class MediaHost {
  readonly #agent: Agent;
  readonly #origin: string | undefined;

  constructor(options: MediaHostOptions = {}) {
    const idleMs = options.idleTimeoutMs ?? 20_000;
    this.#origin = options.origin;
    this.#agent = new Agent({
      connect: guardedConnector({ allowLoopback: options.origin !== undefined }),
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      pipelining: 1,
    });
  }

  /** The URL a file is fetched under; undefined when the place names none of the network's. */
  urlOf(place: FilePlace): URL | undefined {
    const named = place.url && URL.canParse(place.url) ? new URL(place.url) : undefined;
    const ownHost = named?.protocol === 'https:' && NETWORK_HOST.test(named.host) ? named.origin : undefined;
    const origin = this.#origin ?? ownHost ?? DEFAULT_MEDIA_ORIGIN;
    const path = place.directPath || (named && (ownHost ?? this.#origin) ? named.pathname + named.search : undefined);
    if (!path?.startsWith('/')) return undefined;
    const url = new URL(origin + path);
    return url.origin === new URL(origin).origin ? url : undefined;
  }

  /**
   * Opens a file as it lies there, encrypted.
   * @param route the way through the channel's proxy; absent: directly
   * @throws {FileGone} when it is not there; {HostFailed} for every other failure; the signal's reason
   */
  async open(place: FilePlace, signal: AbortSignal, route?: Dispatcher): Promise<Readable> {
    const url = this.urlOf(place);
    if (!url) throw new FileGone(404);
    const answer = await this.#request(url, signal, route);
    if (answer.statusCode === 200) return answer.body;
    answer.body.on('error', () => undefined).destroy();
    if (GONE.has(answer.statusCode)) throw new FileGone(answer.statusCode);
    throw new HostFailed(`answered ${answer.statusCode}`);
  }

  /** Whether a file is still there. A host that does not say so is believed to have it. */
  async has(place: FilePlace, signal: AbortSignal, route?: Dispatcher): Promise<boolean> {
    try {
      (await this.open(place, signal, route)).on('error', () => undefined).destroy();
      return true;
    } catch (error) {
      signal.throwIfAborted();
      return !(error instanceof FileGone);
    }
  }

  async #request(url: URL, signal: AbortSignal, route: Dispatcher | undefined) {
    try {
      return await request(url, { dispatcher: route ?? this.#agent, signal, headers: { origin: WEB_CLIENT_ORIGIN } });
    } catch (error) {
      signal.throwIfAborted();
      throw new HostFailed('cannot be reached', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

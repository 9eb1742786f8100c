/**
 * Downloads from the network's file hosts. A message names the URL of its file, and its sender may be a stranger: files
 * are only downloaded from the network's own hosts, and only from public addresses.
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

/** The download failed, but may work later. */
export class HostFailed extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the network's file host: ${what}`, options);
    this.name = 'HostFailed';
  }
}

/** The place of a file, as the message names it. */
export interface FilePlace {
  directPath: string | undefined;
  url: string | undefined;
}

export interface MediaHostOptions {
  /** Host of a simulated network for all files, e.g. `https://127.0.0.1:4500`. Absent: the network's real hosts. */
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

  /** The URL from which a file is downloaded; undefined when the place names no host of the network. */
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
   * Opens the download of a file, as it is stored there: encrypted.
   * @param route connects through the channel's proxy; absent: directly
   * @throws {FileGone} when the host does not have it; {HostFailed} for every other failure; the signal's reason
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

  /** Whether the host still has a file; true unless the host reports that it is gone. */
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

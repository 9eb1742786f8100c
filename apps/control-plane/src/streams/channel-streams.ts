/**
 * Server-sent events about a channel.
 *
 * Guarantees: a stream sends what its content has, at once when Redis signals that something of the channel was stored; without the
 * signal it looks every five seconds, and every second without Redis. A client that reads slowly is waited for. A stream ends within
 * `checkMs` when its maker may not have it any more: signed out, removed, key ended, channel deleted.
 * While a region is away its streams stay open, and their content decides what that means.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Logger } from '@dormouse/bootstrap';
import { GatewayError } from '@dormouse/gateway-contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/caller.js';
import type { RegionLink } from '../regions/regions.js';

export interface StreamSettings {
  /** Interval between two polls without signals from Redis. */
  pollMs: number;
  /** Interval between two polls while signals are received. */
  pollWhileLiveMs: number;
  /** Interval between two keep-alive comments, and between two checks that the stream is still authorized. */
  checkMs: number;
}

/** What a stream sends next, and what it does then. */
export interface StreamTurn {
  readonly frames: readonly string[];
  /** `more`: there is more already. `wait`: for a signal, `wake` or a poll. `end`: that was all. */
  readonly then: 'more' | 'wait' | 'end';
  /** Waits no longer than this. */
  readonly withinMs?: number | undefined;
}

export interface StreamContent {
  /** Before the client sees the stream open. */
  prepare?: () => Promise<void>;
  /** @param wake to be called when there is something to send without a signal */
  next: (wake: () => void) => Promise<StreamTurn>;
}

export interface StreamFacts {
  link: SignalledRegion;
  channelId: string;
  /** Who has it; see {@link ownerOf}. */
  owner: string;
  content: StreamContent;
  isAuthorized: () => Promise<boolean>;
}

export const DEFAULT_STREAMS: StreamSettings = { pollMs: 1_000, pollWhileLiveMs: 5_000, checkMs: 15_000 };
/** Open streams of one channel, and of one user or key, in this process. */
const MOST_OF_CHANNEL = 10;
const MOST_OF_OWNER = 20;
const RETRY_AFTER_S = 5;

interface Stream {
  readonly owner: string;
  readonly ended: AbortController;
  /** Ends the present wait for the next turn. */
  wake: () => void;
}

/** A region, as far as its signals that events are ready. */
type SignalledRegion = Pick<RegionLink, 'subscribeEvents'>;
type EventSubscription = ReturnType<RegionLink['subscribeEvents']>;

export class ChannelStreams {
  /** By channel. */
  readonly #streams = new Map<string, Set<Stream>>();
  readonly #subscriptions = new Map<SignalledRegion, EventSubscription>();
  readonly #running = new Set<Promise<void>>();

  constructor(
    private readonly log: Logger,
    private readonly settings: StreamSettings = DEFAULT_STREAMS,
  ) {}

  /** Sends a content as the answer of a request, which it takes over. @throws {GatewayError} 429 beyond the open streams */
  answer(reply: FastifyReply, facts: StreamFacts): void {
    const all = [...this.#streams.values()].flatMap((streams) => [...streams]);
    const ofChannel = this.#streams.get(facts.channelId)?.size ?? 0;
    if (ofChannel >= MOST_OF_CHANNEL) throw tooMany('of this channel');
    if (all.filter(({ owner }) => owner === facts.owner).length >= MOST_OF_OWNER) throw tooMany('of yours');
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    this.#send(reply.raw, facts);
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    for (const streams of this.#streams.values()) streams.forEach(end);
    await Promise.all(this.#running);
    await Promise.all([...this.#subscriptions.values()].map((subscription) => subscription.close()));
  }

  #send(response: ServerResponse, facts: StreamFacts): void {
    const { channelId, owner } = facts;
    const stream: Stream = { owner, ended: new AbortController(), wake: () => undefined };
    response.once('close', () => end(stream));
    this.#streams.set(channelId, (this.#streams.get(channelId) ?? new Set()).add(stream));
    const running = this.#run(response, stream, facts)
      .catch((error: unknown) => this.log.warn({ err: error, channelId }, 'a stream failed'))
      .finally(() => {
        this.#remove(channelId, stream);
        this.#running.delete(running);
        response.end();
      });
    this.#running.add(running);
  }

  async #run(response: ServerResponse, stream: Stream, facts: StreamFacts): Promise<void> {
    const { content, link, isAuthorized } = facts;
    const { signal } = stream.ended;
    const subscription = this.#subscriptionOf(link);
    await content.prepare?.();
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // A stream that ends at shutdown must leave no idle connection: the server would wait for it.
      connection: 'close',
    });
    response.write(': open\n\n');
    let checkedAtMs = performance.now();
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (stream.wake = resolve));
      const { frames, then, withinMs = Infinity } = await content.next(() => stream.wake());
      for (const frame of frames) if (!signal.aborted) await write(response, frame, signal);
      if (then === 'end') return;
      if (then === 'more') continue;
      const pollMs = subscription.isLive() ? this.settings.pollWhileLiveMs : this.settings.pollMs;
      const poll = setTimeout(() => stream.wake(), Math.min(pollMs, withinMs));
      if (!signal.aborted) await woken;
      clearTimeout(poll);
      if (performance.now() - checkedAtMs < this.settings.checkMs) continue;
      checkedAtMs = performance.now();
      await write(response, ': alive\n\n', signal);
      if (!(await isAuthorized().catch(() => true))) return;
    }
  }

  #subscriptionOf(link: SignalledRegion): EventSubscription {
    const known = this.#subscriptions.get(link);
    if (known) return known;
    const wakeStreams = (channelId: string) => this.#streams.get(channelId)?.forEach((stream) => stream.wake());
    const subscription = link.subscribeEvents(wakeStreams);
    this.#subscriptions.set(link, subscription);
    return subscription;
  }

  #remove(channelId: string, stream: Stream): void {
    const streams = this.#streams.get(channelId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#streams.delete(channelId);
  }
}

/** Who has a stream: the user or the key. */
export function ownerOf(caller: Caller): string {
  return caller.kind === 'key' ? caller.key.id : caller.signedIn.user.id;
}

/** Whether the client wants server-sent events. */
export function wantsStream({ headers }: FastifyRequest): boolean {
  return /\btext\/event-stream\b/.test(headers.accept ?? '');
}

function tooMany(whose: string): GatewayError {
  const details = `too many open streams ${whose}: close one first`;
  return new GatewayError(429, { details, retryAfterS: RETRY_AFTER_S });
}

function end({ ended, wake }: Stream): void {
  ended.abort();
  wake();
}

/** Writes to the response, and waits while the client reads more slowly than events arrive. */
async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (!response.write(text)) await once(response, 'drain', { signal }).catch(() => undefined);
}

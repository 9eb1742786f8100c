/**
 * Fetches where the pictures of a channel's contacts and groups are, for channels that ask for it (setting
 * `media.init_avatars`): while the session is open, one question after the other, those of the last active chats first.
 * The network counts such questions, so they are few a second, of one channel and of all of them.
 *
 * Nothing waits for it and nobody is woken for it. What was asked is written down under the fence, so that neither a
 * restart nor a wake asks again for days. A question that fails, a database that is away: it is tried again later. A
 * session that ends takes its questions with it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FencedError } from '@dormouse/database';
import type { PictureWriter } from '@dormouse/message-store/write';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import { refusedRequest } from '../socket/requests/refused-request.js';

export interface PictureKeeperOptions {
  readonly store: Pick<PictureWriter, 'wanted' | 'recordAsked'>;
  /** Does the channel want them? */
  readonly wants: (channelId: string) => Promise<boolean>;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Rejects when the signal says so. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A session that has just opened has other things to do, and history to hear. */
const BEGIN_AFTER_MS = 2_000;
/** Between two questions of one channel, and of any two. */
const PACE_MS = 1_000;
const PACE_OF_ALL_MS = 50;
/** An address works for a week or two. */
const ASK_AGAIN_AFTER_MS = 5 * 24 * 3_600_000;
/** It is looked so often whether the channel still wants them, too. */
const AT_ONCE = 20;
/** When nothing is left to ask: contacts come with messages and history. It doubles up to the longest. */
const LOOK_AGAIN_MS = 15_000;
const LONGEST_LOOK_MS = 3_600_000;
/** After a question that failed; after the network said that it was asked too much. */
const AGAIN_MS = 300_000;
const TOO_MUCH_MS = 3_600_000;
const RATE_LIMITED = 429;

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal, ref: false });
};

export class AvatarFetcher implements SessionListener {
  private readonly rounds = new Map<string, Round>();
  private nextMs = 0;

  constructor(private readonly options: PictureKeeperOptions) {}

  attach(session: OpenSession): Attachment {
    const round = new Round(session, this.options, () => this.turnInMs());
    this.rounds.set(session.channelId, round);
    const end = (): void => {
      round.end();
      if (this.rounds.get(session.channelId) === round) this.rounds.delete(session.channelId);
    };
    session.network.events.onConnection(({ state }) => {
      if (state === 'open') round.begin();
      if (state === 'closed') end();
    });
    return {
      drained: () => {
        end(); // what it writes is only what the network said: nothing heard is lost
        return Promise.resolve();
      },
    };
  }

  /** The channel's settings may have changed. */
  settingsChanged(channelId: string): void {
    this.rounds.get(channelId)?.look();
  }

  /** How long until one more question is not too many. */
  private turnInMs(): number {
    const { now = Date.now } = this.options;
    const atMs = Math.max(now(), this.nextMs);
    this.nextMs = atMs + PACE_OF_ALL_MS;
    return atMs - now();
  }
}

/** The questions of one session. */
class Round {
  private readonly ending = new AbortController();
  private looking = new AbortController();
  private running = false;
  private lookAgainMs = LOOK_AGAIN_MS;

  constructor(
    private readonly session: OpenSession,
    private readonly options: PictureKeeperOptions,
    private readonly turnInMs: () => number,
  ) {}

  begin(): void {
    if (this.running || this.ended) return;
    this.running = true;
    void this.run();
  }

  end(): void {
    this.ending.abort();
  }

  look(): void {
    this.lookAgainMs = LOOK_AGAIN_MS;
    this.looking.abort();
  }

  private get ended(): boolean {
    return this.ending.signal.aborted;
  }

  private async run(): Promise<void> {
    await this.rest(BEGIN_AFTER_MS);
    while (!this.ended) {
      const restMs = await this.some().catch((error: unknown) => this.failed(error));
      if (restMs > 0) await this.rest(restMs);
    }
  }

  /** Asks for a few. @returns how long there is nothing to do */
  private async some(): Promise<number> {
    const { store, wants, now = Date.now } = this.options;
    const { channelId } = this.session;
    this.looking = new AbortController();
    if (!(await wants(channelId))) return LONGEST_LOOK_MS;
    const ids = await store.wanted(channelId, { askedBeforeMs: now() - ASK_AGAIN_AFTER_MS, limit: AT_ONCE });
    for (const id of ids) {
      await this.waitFor(PACE_MS + this.turnInMs(), this.ending.signal);
      if (this.ended) return 0;
      await this.ask(id);
    }
    if (ids.length > 0) this.lookAgainMs = LOOK_AGAIN_MS;
    const restMs = ids.length < AT_ONCE ? this.lookAgainMs : 0;
    if (ids.length === 0) this.lookAgainMs = Math.min(2 * this.lookAgainMs, LONGEST_LOOK_MS);
    return restMs;
  }

  private async ask(id: string): Promise<void> {
    const { network, fence, channelId } = this.session;
    const found = await network.people.pictures(id).catch((error: unknown) => {
      if (refusedRequest(error) === undefined || refusedRequest(error) === RATE_LIMITED) throw error;
      return {}; // it will not say of this one: the others are asked
    });
    // What comes after the end is no answer.
    if (!this.ended) await this.options.store.recordAsked(fence, channelId, { id, ...found });
  }

  private failed(error: unknown): number {
    if (this.ended) return 0;
    if (refusedRequest(error) === RATE_LIMITED) return TOO_MUCH_MS;
    if (error instanceof FencedError || refusedRequest(error) === undefined) this.session.reportFault(error);
    return AGAIN_MS;
  }

  /** Until then, or until it is to be looked at once. */
  private rest(ms: number): Promise<void> {
    return this.waitFor(ms, AbortSignal.any([this.ending.signal, this.looking.signal]));
  }

  private async waitFor(ms: number, signal: AbortSignal): Promise<void> {
    const { wait = pause } = this.options;
    await wait(ms, signal).catch(() => undefined);
  }
}

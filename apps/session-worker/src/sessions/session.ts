/**
 * One channel's session: its state, its socket, and what happens when the socket ends.
 *
 * Guarantees: at most one socket at a time, opened only while the shard's lease certainly holds; only the current socket
 * generation can change the state; states are stored in order, under the fence. A session that loses its socket reconnects
 * by itself, or rests in a state that shows why. A failure here does not reach another session. A session falls asleep
 * only while it is not used, and all requests that need it share one wake.
 * PostgreSQL away: the state is stored as soon as it is back, while the shard is ours. Object storage away: no session
 * falls asleep, a wake is retried. Redis is not used.
 */
import type { ChannelSession } from '@dormouse/channel-directory';
import { FencedError } from '@dormouse/database';
import type { SessionState } from '@dormouse/gateway-contract';
import { UnsealableError } from '../encryption/sealing.js';
import { errorOutline } from '../error-outline.js';
import { Activity } from './activity.js';
import { AttemptTimer } from './attempt-timer.js';
import {
  ATTEMPTS_USED_UP,
  closeReason,
  isProxyTrouble,
  needsPerson,
  STATE_UNREADABLE,
  STORES_AWAY,
  type CloseReason,
} from '../socket/close-reasons.js';
import { endsWithin } from '../socket/deferred.js';
import type { LiveEvents, LiveSession } from '../socket/live-session.js';
import { Linking } from './linking.js';
import { LoginCodes } from './login-codes.js';
import type { OpenSession } from '../socket/open-session.js';
import { ReconnectBackoff } from './reconnect-backoff.js';
import type { SessionContext } from './session-context.js';
import { assertMayConnect, notConnected, UNLINKED, unavailableDetails } from './session-identity.js';
import { SessionKeys } from './session-keys.js';
import { SessionRecord } from './session-record.js';
import { AWAKE_FOR_MS, LOGOUT_WITHIN_MS, SLOT_WITHIN_MS, YIELD_MS } from './session-times.js';
import { WakeTries } from './wake-tries.js';

export class Session {
  private live: LiveSession | undefined;
  private generation = 0;
  /** Handed off or lost: it does nothing any more. */
  private retired = false;
  /** A method here ends the socket and decides what follows. */
  private ending = false;
  private restTimer: NodeJS.Timeout | undefined;
  private awakeUntilMs = 0;
  readonly activity: Activity;
  private readonly attempts: AttemptTimer;
  private readonly wake: WakeTries;
  private readonly linking: Linking;
  /** Codes to link the channel. */
  readonly codes: LoginCodes;
  private readonly backoff: ReconnectBackoff;
  private readonly keys: SessionKeys;
  private readonly record: SessionRecord;

  constructor(
    readonly channelId: string,
    private readonly context: SessionContext,
    stored: ChannelSession,
  ) {
    const { now, held, backoff } = context;
    this.activity = new Activity(now);
    this.attempts = new AttemptTimer(now);
    this.wake = new WakeTries(now);
    this.linking = new Linking(channelId, context.linkFailures, now);
    this.backoff = new ReconnectBackoff(backoff, now);
    this.keys = new SessionKeys(channelId, context);
    this.record = new SessionRecord(stored, {
      write: (change) => context.states.record(held.fence, channelId, change),
      held: () => held.isHeld(),
      onFault: (error) => this.fault(error),
    });
    const pairing = { begin: () => this.connect(), end: () => this.endPairing() };
    const socket = { isRetired: () => this.retired, live: () => this.live };
    this.codes = new LoginCodes({ record: this.record, linking: this.linking, now, ...socket, ...pairing });
  }

  get state(): SessionState {
    return this.record.state;
  }

  /** Not linked or asleep, nothing runs, everything is stored: it may be forgotten. */
  get dormant(): boolean {
    const { live, attempts, keys, record, ending, activity } = this;
    return record.resting && !attempts.busy && !keys.busy && !ending && !activity.inUse && !live;
  }

  /** Calls the listener when the session may have become dormant: it rests, and that is stored. */
  onDormant(listener: () => void): void {
    this.record.onRest = listener;
  }

  /** Continues where the last owner ended: connects a linked session unless a person must act first. */
  resume(): void {
    if (!this.record.linked || needsPerson(this.record.reason)) return;
    if (this.record.state === 'closed' || this.record.state === 'connecting') this.connect();
  }

  /**
   * The open socket; connects if need be.
   * @param deadlineMs epoch milliseconds
   * @throws {GatewayError} 503 with the reason why it is not there, at the deadline or as soon as that is certain
   */
  async open(deadlineMs: number): Promise<OpenSession> {
    for (let waited = false; ; waited = true) {
      if (this.retired) throw notConnected('redeploying', 2);
      if (this.live && this.record.state === 'hibernating' && !this.ending) this.record.move('open');
      if (this.live?.ended === false && this.record.state === 'open') return this.live;
      assertMayConnect(this.record, waited);
      if (this.record.state === 'closed' || this.record.state === 'hibernated') this.connect();
      const dueInMs = (this.attempts.dueAtMs ?? 0) - this.context.now();
      const hopeless = this.attempts.dueAtMs !== undefined && this.attempts.dueAtMs >= deadlineMs;
      if (hopeless || !(await this.record.changed.changedBy(deadlineMs, this.context.now))) {
        throw notConnected(unavailableDetails(this.record), Math.max(1, Math.ceil(dueInMs / 1_000)));
      }
    }
  }

  /** The channel's settings have changed: an attempt that waits because of the proxy begins at once. */
  settingsChanged(): void {
    if (!isProxyTrouble(this.record.reason)) return;
    this.backoff.reset();
    this.attempts.hurry();
  }

  /** Opens a sleeping session only to receive what has arrived meanwhile. Resolves when it is open. */
  async fetch(deadlineMs: number): Promise<void> {
    if (this.record.state !== 'hibernated') return;
    this.activity.fetch();
    await this.open(deadlineMs);
  }

  /** Whether there is an open socket that is not used and may be closed. */
  get canHibernate(): boolean {
    const { live, state, ending, retired, activity } = this;
    const open = live !== undefined && state === 'open' && !ending && !retired;
    return open && !activity.inUse && this.context.now() >= this.awakeUntilMs;
  }

  /**
   * Puts the session to sleep unless it is needed.
   * @param wakeAtMs time of the next scheduled wake, in epoch milliseconds
   * @returns false when it stays awake: it is used, or its state could not be stored
   */
  async sleep(wakeAtMs: number): Promise<boolean> {
    const { live } = this;
    if (!live || !this.canHibernate) return false;
    this.record.move('hibernating');
    await this.record.settled();
    if (this.live !== live || this.state !== 'hibernating' || this.ending) return false;
    if (this.activity.inUse) {
      this.record.move('open');
      return false;
    }
    await this.whileEnding(async (ending) => {
      if (ending !== live || this.retired) return;
      await live.end();
      if (!this.retired) await this.seal(wakeAtMs);
    });
    return this.record.asleep;
  }

  private async seal(wakeAtMs: number): Promise<void> {
    try {
      await this.keys.seal(wakeAtMs);
      if (!this.retired) this.record.move('hibernated');
    } catch (error) {
      this.fault(error);
      this.awakeUntilMs = this.context.now() + AWAKE_FOR_MS * (1 + Math.random());
    }
  }

  /** Unlinks: notifies the network if it can be reached, wipes everything, leaves the channel not linked. */
  async logout(): Promise<void> {
    if (this.record.linked && !needsPerson(this.record.reason)) {
      await this.open(this.context.now() + LOGOUT_WITHIN_MS).catch(() => undefined);
    }
    await this.whileEnding(async (live) => {
      if (this.retired) throw notConnected('redeploying', 2);
      if (live && this.record.state === 'open') await endsWithin(LOGOUT_WITHIN_MS, live.logout().catch(this.fault));
      await live?.end();
      await this.unlink(null);
    });
  }

  private async endPairing(): Promise<void> {
    await this.whileEnding(async (live) => {
      if (this.retired || this.record.linked) return;
      await live?.end();
      this.linking.clear();
      this.record.move('closed');
    });
  }

  /** Ends gently so that another worker can continue where it is. */
  async handOff(): Promise<void> {
    if (this.retired) return;
    await this.whileEnding(async (live) => {
      this.retired = true;
      this.record.changed.fire();
      await live?.end();
      if (this.record.state === 'closed' || this.record.state === 'hibernated') return;
      if (this.record.state === 'waking') this.record.move('hibernated', { reason: 'redeploying' });
      else if (this.record.linked) this.record.move('connecting', { reason: 'redeploying' });
      else this.record.move('closed');
    });
    await this.record.settled();
  }

  /** The shard has another owner: ends at once and writes nothing more. */
  abandon(): void {
    this.retired = true;
    this.cancelPlans();
    const { live } = this;
    this.live = undefined;
    live?.kill();
    this.record.changed.fire();
  }

  /** Reports a failure in work for this session. A write that the fence refused ends every session of the shard. */
  readonly fault = (error: unknown): void => {
    if (this.retired) return;
    if (error instanceof FencedError) this.context.held.lose('fenced');
    else this.context.log.error({ channelId: this.channelId, failure: errorOutline(error) }, 'session fault');
  };

  /** Begins to connect after the delay; a pairing when the channel is not linked. */
  private connect(delayMs = 0): void {
    if (this.retired || this.ending || this.live || this.attempts.busy) return;
    clearTimeout(this.restTimer);
    if (this.record.state === 'hibernated') {
      this.wake.requested();
      this.record.move('waking');
    } else if (this.record.state !== 'connecting' && this.record.state !== 'waking') this.record.move('connecting');
    this.attempts.plan(delayMs, (isCurrent) => {
      this.attempt(isCurrent).catch((error: unknown) => this.attemptFailed(error));
    });
  }

  private async attempt(isCurrent: () => boolean): Promise<void> {
    const releaseSlot = await this.context.slots.take(() => this.activity.inDemand);
    try {
      // Without a lease that certainly holds this session is about to be abandoned.
      if (!isCurrent() || !this.context.held.isHeld()) return;
      const reading = this.context.settings.read(this.channelId);
      const [auth, settings] = await Promise.all([this.keys.prepare(this.record.linked), reading]);
      if (!isCurrent()) return;
      this.attempts.cancel();
      this.linking.clear();
      const { channelId, events, fault: onFault } = this;
      const { held } = this.context;
      const request = { ...settings, channelId, auth, events, onFault, generation: ++this.generation };
      const live = this.context.sockets.open({ ...request, fence: held.fence });
      this.live = live;
      const untilMs = this.context.now() + SLOT_WITHIN_MS;
      while (this.live === live && (this.state === 'connecting' || this.state === 'waking')) {
        if (!(await this.record.changed.changedBy(untilMs, this.context.now))) break;
      }
    } finally {
      releaseSlot();
    }
  }

  private attemptFailed(error: unknown): void {
    this.attempts.cancel();
    if (this.retired || this.ending) return;
    this.fault(error);
    if (error instanceof UnsealableError) this.rest(STATE_UNREADABLE);
    else this.afterClose(STORES_AWAY);
  }

  private readonly events: LiveEvents = {
    code: (live, code) => {
      if (this.live !== live || this.record.linked) return;
      this.linking.offer(code);
      if (this.linking.current)
        this.context.states.offered(this.context.held.fence, this.channelId, this.linking.current);
      if (this.record.state === 'qr') this.record.changed.fire();
      else this.record.move('qr');
    },
    paired: async (live) => {
      if (this.live !== live || this.ending) throw new Error('scanned too late');
      this.record.linked = true;
      this.linking.succeeded();
      this.record.move('connecting', { linked: true, ...this.record.identity(live.identity) });
      await this.record.settled();
    },
    opened: (live) => {
      if (this.live !== live || this.ending) return;
      const wokenInMs = this.wake.succeeded();
      if (this.record.state === 'waking') this.context.observer.woken(wokenInMs);
      this.record.move('open', { linked: true, ...this.record.identity(live.identity) });
    },
    received: (live) => {
      if (this.live === live) this.activity.touch();
    },
    caughtUp: (live) => {
      if (this.live === live) this.activity.caught();
    },
    identified: (live) => {
      if (this.live === live) this.record.identified(live.identity);
    },
    closed: (live, reason) => {
      if (this.live !== live || this.ending) return;
      this.socketClosed(live, reason).catch((error: unknown) => this.fault(error));
    },
  };

  private async socketClosed(live: LiveSession, reason: CloseReason): Promise<void> {
    const { observer, log, held } = this.context;
    observer.closed(reason);
    this.linking.clear();
    log.info({ channelId: this.channelId, reason: reason.name, state: this.record.state }, 'socket closed');
    const dropped = this.record.state === 'open' || this.record.state === 'hibernating';
    if (this.record.linked && dropped) this.record.move('connecting', { reason: reason.name });
    await live.stored(); // before another socket can touch the same keys
    if (this.live !== live || this.ending) return;
    this.live = undefined;
    this.record.changed.fire();
    if (this.record.linked && reason.next === 'unlink') {
      // If it cannot be wiped now, the next connect is refused in the same way and it is tried again.
      await this.unlink(reason).catch((error: unknown) => {
        this.fault(error);
        this.afterClose(STORES_AWAY);
      });
      return;
    }
    if (reason.next === 'yield' && !(await held.verify().catch(() => true))) return;
    this.afterClose(reason);
  }

  private afterClose(reason: CloseReason): void {
    if (this.retired || this.ending) return;
    if (!this.record.linked) return this.record.move('closed', this.linking.failed(reason));
    if (reason.next === 'restart') return this.connect();
    if (reason.next === 'rest') return this.rest(reason);
    const delayMs = this.backoff.afterClose(reason.next === 'persist');
    if (this.record.state === 'waking') return this.wakeFailed(reason, delayMs);
    if (delayMs === undefined) return this.rest(ATTEMPTS_USED_UP);
    this.record.move('connecting', { reason: reason.name });
    this.connect(reason.next === 'yield' ? Math.max(delayMs, YIELD_MS) : delayMs);
  }

  /** Retries for the requests that wait; after a few tries they are answered, and the session sleeps on. */
  private wakeFailed(reason: CloseReason, delayMs: number | undefined): void {
    const passing = reason.next === 'retry' || reason.next === 'persist';
    if (this.wake.mayTryAgain() && passing && delayMs !== undefined) return this.connect(delayMs);
    this.context.observer.wakeFailed(reason);
    this.record.move('hibernated', { reason: reason.name });
    this.keys.postpone(this.wake.givenUp()).catch((error: unknown) => this.fault(error));
  }

  private rest(reason: CloseReason): void {
    const { log, restMs } = this.context;
    log.warn({ channelId: this.channelId, reason: reason.name, notifies: reason.notifies }, 'session rests');
    this.record.move('closed', { reason: reason.name });
    if (reason !== ATTEMPTS_USED_UP) return;
    const againInMs = restMs * (1 + Math.random() / 5);
    this.restTimer = setTimeout(() => {
      this.backoff.reset();
      if (this.record.state === 'closed') this.connect();
    }, againInMs);
  }

  private async unlink(reason: CloseReason | null): Promise<void> {
    await this.keys.wipe();
    this.record.linked = false;
    this.linking.clear();
    this.backoff.reset();
    this.record.move('closed', { reason: reason?.name ?? null, ...UNLINKED });
    await this.record.settled();
  }

  /** Runs one ending at a time. Afterwards the socket is gone; a session that is still linked reconnects. */
  private async whileEnding(end: (live: LiveSession | undefined) => Promise<void>): Promise<void> {
    while (this.ending) await this.record.changed.changedBy(this.context.now() + LOGOUT_WITHIN_MS, this.context.now);
    this.ending = true;
    this.cancelPlans();
    try {
      await this.keys.idle(); // it may write
      await end(this.live);
    } finally {
      this.live = undefined;
      this.ending = false;
      this.record.changed.fire();
      const goesOn = this.record.linked && !this.retired && this.record.state !== 'hibernated';
      if (goesOn) this.afterClose(closeReason(428));
    }
  }

  private cancelPlans(): void {
    this.attempts.cancel();
    clearTimeout(this.restTimer);
  }
}

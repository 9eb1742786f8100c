/**
 * One channel's session: its state, its socket, and what happens when the socket ends.
 *
 * What it guarantees: at most one socket at a time, opened only while the shard's lease surely holds; only the current
 * socket generation can change the state; the state is written down, in order, under the fence. A session that loses
 * its socket connects again by itself, or rests in a state that says why. Nothing that goes wrong here reaches another
 * session. PostgreSQL away: state is written as soon as it is back, while the shard is ours. Redis and S3 play no part.
 */
import type { ChannelSession, SessionStateChange } from '@dormouse/channel-directory';
import { FencedError } from '@dormouse/database';
import { GatewayError, type LoginCode, type SessionState } from '@dormouse/gateway-contract';
import type { AuthState } from '../auth-state/auth-state.js';
import { UnsealableError } from '../auth-state/sealing.js';
import { errorOutline } from '../error-outline.js';
import { AttemptTimer } from './attempt-timer.js';
import { ChangeSignal } from './change-signal.js';
import { ATTEMPTS_USED_UP, closeReason, needsPerson, STATE_UNREADABLE, type CloseReason } from './close-reasons.js';
import { endsWithin } from './deferred.js';
import { identityOf, type LiveEvents, type LiveSession } from './live-session.js';
import { LoginCodes } from './login-codes.js';
import type { OpenSession } from './open-session.js';
import { ReconnectBackoff } from './reconnect-backoff.js';
import type { SessionContext } from './session-context.js';
import { assertMove, resumed } from './session-states.js';
import { StateRecorder } from './state-recorder.js';

/** Another holder of the device has this long before we come back. */
const YIELD_MS = 60_000;
/** How long a logout tries to reach the network. */
const LOGOUT_WITHIN_MS = 8_000;
/** A connect that has come to nothing by then does not hold others up. */
const SLOT_WITHIN_MS = 30_000;

/** Who the channel is when it is nobody. */
const NOBODY = { linked: false, phone: null, lid: null, deviceId: null, pushName: null } as const;

export class Session {
  private currentState: SessionState;
  private reason: string | null;
  private isLinked: boolean;
  private live: LiveSession | undefined;
  private generation = 0;
  /** Handed over or lost: it does nothing any more. */
  private retired = false;
  /** Somebody here ends the socket and decides what follows. */
  private ending = false;
  private knownAs = '';
  private restTimer: NodeJS.Timeout | undefined;
  private readonly changed = new ChangeSignal();
  private readonly attempts: AttemptTimer;
  private readonly codes: LoginCodes;
  private readonly backoff: ReconnectBackoff;
  private readonly recorder: StateRecorder;

  constructor(
    readonly channelId: string,
    private readonly context: SessionContext,
    stored: ChannelSession,
  ) {
    const { now, held, backoff } = context;
    this.isLinked = stored.linked;
    this.currentState = resumed(stored.state, stored.linked);
    this.reason = stored.reason;
    this.attempts = new AttemptTimer(now);
    this.codes = new LoginCodes(now);
    this.backoff = new ReconnectBackoff(backoff, now);
    this.recorder = new StateRecorder(
      (change) => context.record(channelId, change),
      () => held.isHeld(),
      (error) => this.fault(error),
    );
    if (this.currentState !== stored.state) this.recorder.note({ state: this.currentState });
  }

  get state(): SessionState {
    return this.currentState;
  }

  get linked(): boolean {
    return this.isLinked;
  }

  /** Not linked, nothing is going on, nothing is left to write: it may be forgotten. */
  get dormant(): boolean {
    const { live, attempts, recorder, ending } = this;
    const busy = live !== undefined || attempts.busy || recorder.busy || ending;
    return !this.isLinked && this.currentState === 'closed' && !busy;
  }

  /** Takes up what the last owner left: connects a linked session unless a person must act first. */
  resume(): void {
    if (!this.isLinked || needsPerson(this.reason)) return;
    if (this.currentState === 'closed' || this.currentState === 'connecting') this.connect();
  }

  /**
   * The open socket; connects if need be.
   * @param deadlineMs epoch milliseconds
   * @throws {GatewayError} 503 saying why it is not there, at the deadline or as soon as that is certain
   */
  async open(deadlineMs: number): Promise<OpenSession> {
    for (let waited = false; ; waited = true) {
      if (this.retired) throw notConnected('redeploying', 2);
      if (this.live && this.currentState === 'open') return this.live;
      if (!this.isLinked) throw notConnected('not linked: scan the QR code from GET /users/login/image');
      if (needsPerson(this.reason)) throw notConnected(`not connected: the network says ${this.reason}`);
      if (this.currentState === 'closed') {
        if (waited) throw notConnected(`not connected: ${this.reason}`, 30);
        this.connect();
      }
      const dueInMs = (this.attempts.dueAtMs ?? 0) - this.context.now();
      const hopeless = this.attempts.dueAtMs !== undefined && this.attempts.dueAtMs >= deadlineMs;
      if (hopeless || !(await this.changed.changedBy(deadlineMs, this.context.now))) {
        throw notConnected('reconnecting', Math.max(1, Math.ceil(dueInMs / 1_000)));
      }
    }
  }

  /** See SessionControl.loginCode. */
  async loginCode(deadlineMs: number): Promise<LoginCode> {
    for (let waited = false; ; waited = true) {
      if (this.retired) throw notConnected('redeploying', 2);
      if (this.isLinked) throw new GatewayError(403, { details: 'the channel is linked already: log out first' });
      const code = this.codes.current;
      if (code) return code;
      if (this.currentState === 'closed') {
        if (waited) throw notConnected('the network offered no code', 5);
        this.connect();
      }
      if (!(await this.changed.changedBy(deadlineMs, this.context.now))) {
        throw notConnected('the network has not offered a code yet', 2);
      }
    }
  }

  /** Unlinks: tells the network if it can be reached, wipes everything, leaves the channel not linked. */
  async logout(): Promise<void> {
    if (this.isLinked && !needsPerson(this.reason)) {
      await this.open(this.context.now() + LOGOUT_WITHIN_MS).catch(() => undefined);
    }
    await this.whileEnding(async (live) => {
      if (this.retired) throw notConnected('redeploying', 2);
      if (live && this.currentState === 'open') await this.tellLogout(live);
      await live?.end();
      await this.unlink(null);
    });
  }

  /** Ends gently so that another worker can take the session up where it is. */
  async handOver(): Promise<void> {
    if (this.retired) return;
    await this.whileEnding(async (live) => {
      this.retired = true;
      this.changed.fire();
      await live?.end();
      if (this.currentState === 'closed' || this.currentState === 'hibernated') return;
      if (this.isLinked) this.move('connecting', { reason: 'redeploying' });
      else this.move('closed');
    });
    await this.recorder.settled();
  }

  /** The shard is somebody else's: ends at once and writes nothing more. */
  abandon(): void {
    this.retired = true;
    this.cancelPlans();
    const { live } = this;
    this.live = undefined;
    live?.kill();
    this.changed.fire();
  }

  /** Something done for this session failed. A write that the fence refused ends every session of the shard. */
  readonly fault = (error: unknown): void => {
    if (this.retired) return;
    if (error instanceof FencedError) this.context.held.lose('a write was refused by the fence');
    else this.context.log.error({ channelId: this.channelId, failure: errorOutline(error) }, 'session fault');
  };

  /** Begins to connect, now or after a while; a pairing when the channel is not linked. */
  private connect(delayMs = 0): void {
    if (this.retired || this.ending || this.live || this.attempts.busy) return;
    clearTimeout(this.restTimer);
    if (this.currentState !== 'connecting') this.move('connecting');
    this.attempts.plan(delayMs, (isWanted) => {
      this.attempt(isWanted).catch((error: unknown) => this.attemptFailed(error));
    });
  }

  private async attempt(isWanted: () => boolean): Promise<void> {
    const giveSlot = await this.context.takeConnectSlot();
    try {
      // Without a lease that surely holds this session is about to be abandoned.
      if (!isWanted() || !this.context.held.isHeld()) return;
      const [auth, fullHistory] = await Promise.all([this.authState(), this.context.wantsFullHistory(this.channelId)]);
      if (!isWanted()) return;
      this.attempts.cancel();
      this.codes.clear();
      const { channelId, events, fault: onFault } = this;
      const { held } = this.context;
      const generation = ++this.generation;
      const live = this.context.openLive({ channelId, held, generation, auth, fullHistory, events, onFault });
      this.live = live;
      const untilMs = this.context.now() + SLOT_WITHIN_MS;
      while (this.live === live && this.currentState === 'connecting') {
        if (!(await this.changed.changedBy(untilMs, this.context.now))) break;
      }
    } finally {
      giveSlot();
    }
  }

  private async authState(): Promise<AuthState> {
    const { authStates, held } = this.context;
    if (!this.isLinked) return authStates.create(held, this.channelId);
    const auth = await authStates.load(held, this.channelId);
    if (auth && identityOf(auth.creds)) return auth;
    throw new UnsealableError(`credentials of ${this.channelId}`); // they are missing, which is no better
  }

  private attemptFailed(error: unknown): void {
    this.attempts.cancel();
    if (this.retired || this.ending) return;
    this.fault(error);
    if (error instanceof UnsealableError) this.rest(STATE_UNREADABLE);
    else this.afterClose(closeReason(503));
  }

  private readonly events: LiveEvents = {
    code: (live, code) => {
      if (this.live !== live || this.isLinked) return;
      this.codes.offer(code);
      if (this.codes.current) this.context.onCode(this.channelId, this.codes.current);
      if (this.currentState === 'qr') this.changed.fire();
      else this.move('qr');
    },
    paired: async (live) => {
      if (this.live !== live || this.ending) throw new Error('scanned too late');
      this.isLinked = true;
      this.move('connecting', { linked: true, ...this.whoAmI(live) });
      await this.recorder.settled();
    },
    opened: (live) => {
      if (this.live === live && !this.ending) this.move('open', { linked: true, ...this.whoAmI(live) });
    },
    identified: (live) => {
      if (this.live !== live || this.currentState !== 'open' || this.knownAs === JSON.stringify(live.identity)) return;
      this.recorder.note({ state: 'open', ...this.whoAmI(live) });
    },
    closed: (live, code) => {
      if (this.live !== live || this.ending) return;
      this.socketClosed(live, closeReason(code)).catch((error: unknown) => this.fault(error));
    },
  };

  private async socketClosed(live: LiveSession, reason: CloseReason): Promise<void> {
    const { onClosed, log, held } = this.context;
    onClosed(reason);
    log.info({ channelId: this.channelId, reason: reason.name, state: this.currentState }, 'socket closed');
    if (this.isLinked && this.currentState === 'open') this.move('connecting', { reason: reason.name });
    await live.stored(); // before another socket can touch the same keys
    if (this.live !== live || this.ending) return;
    this.live = undefined;
    this.codes.clear();
    this.changed.fire();
    if (this.isLinked && reason.next === 'unlink') {
      // If it cannot be wiped now, the next connect is refused in the same way and it is tried again.
      await this.unlink(reason).catch((error: unknown) => {
        this.fault(error);
        this.afterClose(closeReason(503));
      });
      return;
    }
    if (reason.next === 'yield' && !(await held.verify().catch(() => true))) return;
    this.afterClose(reason);
  }

  private afterClose(reason: CloseReason): void {
    if (this.retired || this.ending) return;
    if (!this.isLinked) return this.move('closed');
    if (reason.next === 'restart') return this.connect();
    if (reason.next === 'rest') return this.rest(reason);
    const delayMs = this.backoff.afterClose();
    if (delayMs === undefined) return this.rest(ATTEMPTS_USED_UP);
    this.move('connecting', { reason: reason.name });
    this.connect(reason.next === 'yield' ? Math.max(delayMs, YIELD_MS) : delayMs);
  }

  private rest(reason: CloseReason): void {
    const { log, restMs } = this.context;
    log.warn({ channelId: this.channelId, reason: reason.name, tell: reason.tell }, 'session rests');
    this.move('closed', { reason: reason.name });
    if (reason !== ATTEMPTS_USED_UP) return;
    this.restTimer = setTimeout(
      () => {
        this.backoff.reset();
        if (this.currentState === 'closed') this.connect();
      },
      restMs * (1 + Math.random() / 5),
    );
  }

  private async unlink(reason: CloseReason | null): Promise<void> {
    await this.context.authStates.wipe(this.context.held, this.channelId);
    this.isLinked = false;
    this.codes.clear();
    this.backoff.reset();
    this.move('closed', { reason: reason?.name ?? null, ...NOBODY });
    await this.recorder.settled();
  }

  private async tellLogout(live: LiveSession): Promise<void> {
    await endsWithin(
      LOGOUT_WITHIN_MS,
      live.logout().catch((error: unknown) => this.fault(error)),
    );
  }

  /** One ending at a time. The socket is gone when it is over; a session that is still linked then connects again. */
  private async whileEnding(end: (live: LiveSession | undefined) => Promise<void>): Promise<void> {
    while (this.ending) await this.changed.changedBy(this.context.now() + LOGOUT_WITHIN_MS, this.context.now);
    this.ending = true;
    this.cancelPlans();
    try {
      await end(this.live);
    } finally {
      this.live = undefined;
      this.ending = false;
      this.changed.fire();
      if (this.isLinked && !this.retired) this.afterClose(closeReason(428));
    }
  }

  private move(to: SessionState, change: Omit<SessionStateChange, 'state'> = {}): void {
    assertMove(this.currentState, to);
    this.currentState = to;
    this.reason = change.reason ?? null;
    this.recorder.note({ ...change, state: to });
    this.changed.fire();
    if (to === 'closed' && !this.isLinked) {
      void this.recorder.settled().then(() => this.context.onDormant(this.channelId));
    }
  }

  private whoAmI(live: LiveSession): Pick<SessionStateChange, 'phone' | 'lid' | 'deviceId' | 'pushName'> {
    const { identity } = live;
    this.knownAs = JSON.stringify(identity);
    const { phone, lid, deviceId, pushName } = identity;
    return { phone, deviceId, ...(lid === undefined ? {} : { lid }), ...(pushName === undefined ? {} : { pushName }) };
  }

  private cancelPlans(): void {
    this.attempts.cancel();
    clearTimeout(this.restTimer);
  }
}

function notConnected(details: string, retryAfterS?: number): GatewayError {
  return new GatewayError(503, { details, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
}

/**
 * The sessions of this worker: one object per channel of an owned shard that is linked or being linked.
 *
 * What it guarantees: a session exists only while its channel's shard is held here, so nobody else has it; sessions
 * start a few at a time; what goes wrong in one is caught there.
 */
import type { ChannelDirectory, ChannelRecord } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { GatewayError, type LoginCode, type SessionState } from '@dormouse/gateway-contract';
import type { NetworkAuthStates } from '../socket/key-format.js';
import { whileHeld } from '../auth-state/while-held.js';
import type { HeldShard } from '../shards/shard-owner.js';
import type { ClientVersion } from '../socket/client-version.js';
import type { CloseReason } from '../socket/close-reasons.js';
import { ConnectSlots } from './connect-slots.js';
import { LinkFailures } from './linking.js';
import type { OpenSession } from '../socket/open-session.js';
import { SocketFactory, type SocketFactoryOptions } from '../socket/socket-factory.js';
import type { BackoffLimits } from './reconnect-backoff.js';
import type { SessionControl } from './session-control.js';
import { Session } from './session.js';
import type { StateEvents } from './state-events.js';
import type { SessionContext, SessionLog } from './session-context.js';

export interface SessionsOptions extends Omit<SocketFactoryOptions, 'version' | 'log'> {
  readonly directory: ChannelDirectory;
  readonly database: RegionalDatabase;
  readonly authStates: NetworkAuthStates;
  readonly hibernation: SessionContext['hibernation'];
  /** Absent: the library's own version, whatever the network reports. */
  readonly version?: ClientVersion;
  /** Stores states with their events; absent: states are stored without. */
  readonly states?: Pick<StateEvents, 'record' | 'offered'>;
  readonly backoff: BackoffLimits;
  readonly restMs: number;
  /** How many sessions connect at once. */
  readonly connectingAtOnce: number;
  /** A start waits up to this long at random, so that shards do not all connect in one moment. */
  readonly startJitterMs: number;
  readonly log: SessionLog;
  readonly onClosed?: (reason: CloseReason) => void;
  /** A session is open after a sleep; milliseconds since it was requested. */
  readonly onWoken?: (tookMs: number) => void;
  /** A wake was given up. */
  readonly onWakeFailed?: (reason: CloseReason) => void;
}

export class Sessions implements SessionControl {
  private readonly shards = new Map<number, HeldShard>();
  private readonly sessions = new Map<string, { session: Session; held: HeldShard }>();
  private readonly starting = new Map<string, Promise<Session>>();
  private readonly slots: ConnectSlots;
  private readonly linkFailures: LinkFailures;
  private readonly sockets: SocketFactory;

  constructor(private readonly options: SessionsOptions) {
    this.slots = new ConnectSlots(options.connectingAtOnce, options.startJitterMs);
    this.sockets = new SocketFactory(options);
    this.linkFailures = new LinkFailures(options.backoff, Date.now);
  }

  /** How many sessions are in each state. */
  countByState(): Map<SessionState, number> {
    const counts = new Map<SessionState, number>();
    for (const { session } of this.sessions.values()) counts.set(session.state, (counts.get(session.state) ?? 0) + 1);
    return counts;
  }

  /** The shard has just become ours: takes its linked sessions up. Resolves when all have begun to start. */
  async takeOver(held: HeldShard): Promise<void> {
    const { shard } = held.fence;
    this.shards.set(shard, held);
    const { directory } = this.options;
    const records = await whileHeld(
      () => held.isHeld(),
      () => directory.wakefulChannels(shard),
    );
    for (const record of records) {
      if (this.shards.get(shard) !== held) return;
      this.add(record, held).resume();
    }
    await this.tidy(held);
  }

  /** Ends the shard's sessions gently, for their next owner. */
  async handOver(held: HeldShard): Promise<void> {
    const leaving = this.forgetShard(held);
    await Promise.all(leaving.map((session) => session.handOver().catch(session.fault)));
  }

  /** The shard is somebody else's: ends its sockets at once. */
  abandon(held: HeldShard): void {
    for (const session of this.forgetShard(held)) session.abandon();
  }

  /**
   * The channel's open socket.
   * @param deadlineMs epoch milliseconds until when to wait for it
   * @throws {GatewayError} 503 when it is not there in time
   */
  async open(channelId: string, deadlineMs: number): Promise<OpenSession> {
    return this.use(channelId, (session) => session.open(deadlineMs));
  }

  async loginCode(channelId: string, deadlineMs: number): Promise<LoginCode> {
    return this.use(channelId, (session) => session.loginCode(deadlineMs));
  }

  async logout(channelId: string): Promise<void> {
    await this.use(channelId, (session) => session.logout());
  }

  async forget(channelId: string): Promise<void> {
    await this.logout(channelId);
  }

  /** The channel's settings may have changed: a session that its proxy keeps from the network tries the new ones. */
  settingsChanged(channelId: string): void {
    this.linkFailures.settingsChanged(channelId);
    this.sessions.get(channelId)?.session.settingsChanged();
  }

  /** Keeps the channel's session from falling asleep until what is returned is called. */
  keepAwake(channelId: string): () => void {
    return this.sessions.get(channelId)?.session.activity.begin() ?? (() => undefined);
  }

  /** Why the channel has no open socket, if one is on its way. */
  awaited(channelId: string): 'waking' | 'reconnecting' | undefined {
    const state = this.sessions.get(channelId)?.session.state;
    if (state === 'hibernated' || state === 'waking') return 'waking';
    return state === 'connecting' ? 'reconnecting' : undefined;
  }

  /** The shards held now. */
  get held(): HeldShard[] {
    return [...this.shards.values()];
  }

  /** The sessions in memory: of channels that are linked and awake, or being linked. */
  get all(): Session[] {
    return [...this.sessions.values()].map(({ session }) => session);
  }

  /** Wakes a sleeping channel only to fetch what came meanwhile. Resolves when it is open, rejects when it is not. */
  async fetch(channelId: string, deadlineMs: number): Promise<void> {
    await this.use(channelId, (session) => session.fetch(deadlineMs), { counts: false });
  }

  /** A call that finds nothing to do leaves no session behind. */
  private async use<T>(channelId: string, act: (session: Session) => Promise<T>, { counts = true } = {}): Promise<T> {
    for (;;) {
      const session = await this.sessionOf(channelId);
      if (this.sessions.get(channelId)?.session !== session) continue; // forgotten in the same moment
      const end = session.activity.begin({ counts });
      try {
        return await act(session);
      } finally {
        end();
        this.dropIfDormant(channelId);
      }
    }
  }

  private async sessionOf(channelId: string): Promise<Session> {
    const known = this.sessions.get(channelId);
    if (known) return known.session;
    const starting = this.starting.get(channelId);
    if (starting) return starting;
    const start = this.find(channelId).finally(() => this.starting.delete(channelId));
    this.starting.set(channelId, start);
    return start;
  }

  private async find(channelId: string): Promise<Session> {
    const record = await this.options.directory.refresh(channelId);
    if (!record) throw new GatewayError(404, { message: 'channel not found' });
    const held = this.shards.get(record.shard);
    if (!held?.isHeld()) throw new GatewayError(503, { details: 'redeploying', retryAfterS: 2 });
    return this.add(record, held);
  }

  private add(record: ChannelRecord, held: HeldShard): Session {
    const known = this.sessions.get(record.id);
    if (known) return known.session;
    const session = new Session(record.id, this.contextOf(held), record.session);
    this.sessions.set(record.id, { session, held });
    return session;
  }

  /** What a dead worker left half done: pairings that ended with it, and channels deleted while nobody owned them. */
  async tidy(held: HeldShard): Promise<void> {
    const { prisma } = this.options.database;
    const { shard } = held.fence;
    const left = await prisma.channel.findMany({
      where: {
        shard,
        OR: [
          { linked: false, sessionState: { not: 'closed' } },
          { linked: true, deletedAt: { not: null } },
        ],
      },
      select: { id: true, linked: true },
    });
    for (const { id, linked } of left) {
      if (!held.isHeld()) return;
      const tidied = linked ? this.forget(id) : this.use(id, () => Promise.resolve());
      await tidied.catch((error: unknown) =>
        this.options.log.warn({ channelId: id, err: error }, 'session could not be tidied'),
      );
    }
  }

  private forgetShard(held: HeldShard): Session[] {
    const { shard } = held.fence;
    if (this.shards.get(shard) === held) this.shards.delete(shard);
    const leaving: Session[] = [];
    for (const [channelId, entry] of this.sessions) {
      if (entry.held !== held) continue;
      this.sessions.delete(channelId);
      leaving.push(entry.session);
    }
    return leaving;
  }

  private dropIfDormant(channelId: string): void {
    if (this.sessions.get(channelId)?.session.dormant) this.sessions.delete(channelId);
  }

  private contextOf(held: HeldShard): SessionContext {
    const { directory, states, authStates, hibernation, backoff, restMs, log } = this.options;
    return {
      held,
      authStates,
      hibernation,
      backoff,
      linkFailures: this.linkFailures,
      restMs,
      log,
      sockets: this.sockets,
      // Read again: after a proxy was set no connect may go without it.
      connectSettings: async (channelId) => {
        const settings = (await directory.refresh(channelId))?.settings;
        return { fullHistory: settings?.full_history ?? false, proxy: settings?.proxy ?? '' };
      },
      takeConnectSlot: (isUrgent) => this.slots.take(isUrgent),
      record: (channelId, change) =>
        states
          ? states.record(held.fence, channelId, change)
          : directory.recordSessionState(held.fence, channelId, change),
      onCode: (channelId, code) => {
        const failed = (error: unknown): void =>
          log.warn({ channelId, err: error }, 'the event of a login code could not be stored');
        states?.offered(held.fence, channelId, code).catch(failed);
      },
      onWoken: (tookMs) => this.options.onWoken?.(tookMs),
      onWakeFailed: (reason) => this.options.onWakeFailed?.(reason),
      onClosed: (reason) => {
        if (reason.name === 'client_outdated') void this.options.version?.outdated();
        this.options.onClosed?.(reason);
      },
      onDormant: (channelId) => this.dropIfDormant(channelId),
      now: Date.now,
    };
  }
}

/**
 * The sessions of this worker: one object per channel of an owned shard that is linked or being linked.
 *
 * Guarantees: a session exists only while its channel's shard is held here, so no other worker has it; sessions start a
 * few at a time; a failure of one is caught there.
 */
import type { ChannelDirectory, ChannelRecord } from '@dormouse/channel-directory';
import { GatewayError, type LoginCode, type SessionState } from '@dormouse/gateway-contract';
import { inSpan } from '@dormouse/traces';
import { whileHeld } from '../auth-state/while-held.js';
import type { HeldShard } from '../shards/shard-owner.js';
import type { OpenSession } from '../socket/open-session.js';
import type { SessionParts } from './session-context.js';
import type { SessionControl } from './session-control.js';
import { Session } from './session.js';

export interface SessionsDependencies {
  readonly directory: Pick<ChannelDirectory, 'refresh' | 'linkedAwakeChannels' | 'channelsToTidy'>;
  /** Shared by all sessions. */
  readonly parts: SessionParts;
}

export class Sessions implements SessionControl {
  private readonly shards = new Map<number, HeldShard>();
  private readonly sessions = new Map<string, { session: Session; held: HeldShard }>();
  private readonly starting = new Map<string, Promise<Session>>();
  private readonly directory: SessionsDependencies['directory'];
  private readonly parts: SessionParts;

  constructor({ directory, parts }: SessionsDependencies) {
    this.directory = directory;
    this.parts = parts;
  }

  /** How many sessions are in each state. */
  countByState(): Map<SessionState, number> {
    const counts = new Map<SessionState, number>();
    for (const { session } of this.sessions.values()) counts.set(session.state, (counts.get(session.state) ?? 0) + 1);
    return counts;
  }

  /** Starts the linked sessions of a shard that was claimed. Resolves when all have begun to start. */
  async takeOver(held: HeldShard): Promise<void> {
    const { shard } = held.fence;
    this.shards.set(shard, held);
    const records = await whileHeld(
      () => held.isHeld(),
      () => this.directory.linkedAwakeChannels(shard),
    );
    for (const record of records) {
      if (this.shards.get(shard) !== held) return;
      this.add(record, held).resume();
    }
    await this.tidy(held);
  }

  /** Ends the shard's sessions gently, for their next owner. */
  async handOff(held: HeldShard): Promise<void> {
    const leaving = this.forgetShard(held);
    await Promise.all(leaving.map((session) => session.handOff().catch(session.fault)));
  }

  /** The shard has another owner: ends its sockets at once. */
  abandon(held: HeldShard): void {
    for (const session of this.forgetShard(held)) session.abandon();
  }

  /**
   * The channel's open socket.
   * @param deadlineMs epoch milliseconds until when to wait for it
   * @throws {GatewayError} 503 when it is not there in time
   */
  async open(channelId: string, deadlineMs: number): Promise<OpenSession> {
    return this.use(channelId, (session) => {
      const { state } = session;
      if (state === 'open') return session.open(deadlineMs);
      // One that is falling asleep is woken as soon as it sleeps.
      const wakes = state === 'hibernating' || state === 'hibernated' || state === 'waking';
      const waits = wakes ? 'wake' : 'connect';
      return inSpan(waits, {}, () => session.open(deadlineMs));
    });
  }

  async loginCode(channelId: string, deadlineMs: number): Promise<LoginCode> {
    return this.use(channelId, (session) => session.codes.scan(deadlineMs));
  }

  async phoneCode(channelId: string, phone: string, deadlineMs: number): Promise<LoginCode> {
    return this.use(channelId, (session) => session.codes.letters(phone, deadlineMs));
  }

  async logout(channelId: string): Promise<void> {
    await this.use(channelId, (session) => session.logout());
  }

  async forget(channelId: string): Promise<void> {
    await this.logout(channelId);
  }

  /** The channel's settings have changed: a session that its proxy keeps from the network tries the new ones. */
  settingsChanged(channelId: string): void {
    this.parts.linkFailures.settingsChanged(channelId);
    this.sessions.get(channelId)?.session.settingsChanged();
  }

  /** Keeps the channel's session from falling asleep until the returned function is called. */
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

  /** Wakes a sleeping channel only to receive what has arrived meanwhile. Resolves when it is open, rejects when it is not. */
  async fetch(channelId: string, deadlineMs: number): Promise<void> {
    await this.use(channelId, (session) => session.fetch(deadlineMs), { counts: false });
  }

  /** Runs a call on the channel's session, and drops a session that the call leaves dormant. */
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
    const record = await this.directory.refresh(channelId);
    if (!record) throw new GatewayError(404, { message: 'channel not found' });
    const held = this.shards.get(record.shard);
    if (!held?.isHeld()) throw new GatewayError(503, { details: 'redeploying', retryAfterS: 2 });
    return this.add(record, held);
  }

  private add(record: ChannelRecord, held: HeldShard): Session {
    const known = this.sessions.get(record.id);
    if (known) return known.session;
    const session = new Session(record.id, { ...this.parts, held }, record.session);
    this.sessions.set(record.id, { session, held });
    session.onDormant(() => this.dropIfDormant(record.id));
    return session;
  }

  /** Completes what a worker that ended left half done: its pairings, and channels deleted while their shard had no owner. */
  async tidy(held: HeldShard): Promise<void> {
    const left = await this.directory.channelsToTidy(held.fence.shard);
    for (const { id, linked } of left) {
      if (!held.isHeld()) return;
      const tidied = linked ? this.forget(id) : this.use(id, () => Promise.resolve());
      await tidied.catch((error: unknown) =>
        this.parts.log.warn({ channelId: id, err: error }, 'session could not be tidied'),
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
}

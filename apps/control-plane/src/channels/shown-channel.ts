/** Channels as the management API shows them. */
import type { ChannelOverview, SleepOverride } from '@dormouse/channel-directory';
import { channelStatus, PROXY_REASONS, type SessionState } from '@dormouse/gateway-contract';
import type {
  Attention,
  ChannelEntry,
  ChannelSleep,
  ChannelState,
  ManagedChannel,
} from '@dormouse/management-contract';
import type { ChannelEntryRow } from './channel-entries.js';

/** @param overview undefined while the region does not answer */
export function shownChannel(entry: ChannelEntryRow, overview: ChannelOverview | undefined): ManagedChannel {
  if (!overview) return { ...shownEntry(entry), status: { text: 'unknown' }, state: 'unknown' };
  const { session, standing, sleep, wakeAtMs } = overview;
  const attention = attentionOf(overview);
  return {
    ...shownEntry(entry),
    status: channelStatus(session, { legacyText: overview.legacyText }),
    state: stateOf(overview),
    since: epochS(session.sinceMs),
    ...(attention ? { attention } : {}),
    standing,
    ...(session.phone === null ? {} : { phone: session.phone }),
    ...(session.phone === null || session.pushName === null ? {} : { phone_name: session.pushName }),
    ...(wakeAtMs === null ? {} : { wake_at: epochS(wakeAtMs) }),
    ...(sleep ? { sleep: fromOverride(sleep) } : {}),
    ...(overview.retentionDays === null ? {} : { retention_days: overview.retentionDays }),
  };
}

function shownEntry(entry: ChannelEntryRow): ChannelEntry {
  return { id: entry.id, name: entry.name, region: entry.region, created_at: epochS(entry.createdAtMs) };
}

const STATES: Record<Exclude<SessionState, 'closed' | 'connecting'>, ChannelState> = {
  qr: 'linking',
  open: 'connected',
  hibernating: 'asleep',
  hibernated: 'asleep',
  waking: 'waking',
};

function stateOf({ session: { state, linked, reason } }: ChannelOverview): ChannelState {
  if (state === 'connecting') return linked ? 'connecting' : 'linking';
  if (state !== 'closed') return STATES[state];
  if (!linked) return 'not_linked';
  return reason === null ? 'connecting' : 'stopped';
}

/** Reasons for which a linked session stays closed, and what a person is shown. */
const STOPPED: Readonly<Record<string, Attention>> = {
  temporarily_banned: 'restricted',
  locked: 'restricted',
  banned: 'banned',
  multidevice_mismatch: 'phone_outdated',
  unreachable: 'unreachable',
  state_unreadable: 'damaged',
};

function attentionOf(overview: ChannelOverview): ManagedChannel['attention'] {
  const what = whatOf(overview);
  if (what === undefined) return overview.standing === 'good' ? undefined : { what: 'pay' };
  const { reason, sinceMs } = overview.session;
  const since = epochS(what === 'link' ? overview.createdAtMs : sinceMs);
  return { what, since, ...(reason === null ? {} : { reason }) };
}

function whatOf({ session, everLinked }: ChannelOverview): Attention | undefined {
  const { state, linked, reason } = session;
  const proxy = PROXY_REASONS.find((name) => name === reason);
  if (proxy) return proxy;
  if (!linked) return !everLinked ? 'link' : reason === 'unlinked' ? 'unlinked' : 'link_again';
  // A reason of a later version is one for support.
  return state === 'closed' && reason !== null ? (STOPPED[reason] ?? 'unreachable') : undefined;
}

export function toOverride({ idle_after_s: idleS, drain_every_s: drainS }: ChannelSleep): SleepOverride | null {
  if (idleS === undefined && drainS === undefined) return null;
  return {
    ...(idleS === undefined ? {} : { idleAfterMs: idleS === 0 ? null : idleS * 1_000 }),
    ...(drainS === undefined ? {} : { drainEveryMs: drainS * 1_000 }),
  };
}

function fromOverride({ idleAfterMs, drainEveryMs }: SleepOverride): ChannelSleep {
  return {
    ...(idleAfterMs === undefined ? {} : { idle_after_s: idleAfterMs === null ? 0 : idleAfterMs / 1_000 }),
    ...(drainEveryMs === undefined ? {} : { drain_every_s: drainEveryMs / 1_000 }),
  };
}

function epochS(ms: number): number {
  return Math.floor(ms / 1_000);
}

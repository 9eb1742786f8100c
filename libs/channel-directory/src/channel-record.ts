import { isSessionState, settingsOf, type ChannelSettings, type SessionState } from '@dormouse/gateway-contract';
import { openSettings } from './sealed-settings.js';
import type { ChannelSeals } from './sealed-values.js';

/** 'good', or why the channel may not be billed. */
export type Standing = 'good' | 'past_due' | 'over_free_allowance';

/** The last state of the session that its owner wrote down. */
export interface ChannelSession {
  state: SessionState;
  /** Name of the close reason the session rests on; null while nothing is wrong. */
  reason: string | null;
  /** Epoch milliseconds since when the session is in this state. */
  sinceMs: number;
  /** Credentials are stored: later connects need no scan. */
  linked: boolean;
  /** Digits of the linked number; this and the following are null while not linked or not known. */
  phone: string | null;
  /** User part of the channel's own LID. */
  lid: string | null;
  /** Index of this gateway among the number's linked devices. */
  deviceId: number | null;
  pushName: string | null;
}

/** Where a channel's sleep differs from the default. */
export interface SleepOverride {
  /** Time without requests and traffic after which its session sleeps; null: never. */
  idleAfterMs?: number | null;
  /** Time between two wakes that only fetch what came meanwhile. */
  drainEveryMs?: number;
}

export interface ChannelRecord {
  id: string;
  accountId: string;
  name: string;
  shard: number;
  standing: Standing;
  settings: ChannelSettings;
  session: ChannelSession;
  sleep: SleepOverride | null;
  createdAtMs: number;
  deleted: boolean;
}

/** A row of `channels` as the driver gives it. */
export interface ChannelRow {
  id: string;
  account_id: string;
  name: string;
  shard: number;
  standing: string;
  settings: unknown;
  session_state: string;
  session_reason: string | null;
  session_since: Date;
  linked: boolean;
  phone: string | null;
  lid: string | null;
  device_id: number | null;
  push_name: string | null;
  sleep_override: SleepOverride | null;
  created_at: Date;
  deleted_at: Date | null;
}

/** The columns of a {@link ChannelRow}; the token hash never leaves the database. */
export const CHANNEL_COLUMNS = `id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at`;

/** @throws {SealedValueError} */
export function toChannelRecord(row: ChannelRow, seals?: ChannelSeals): ChannelRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    shard: row.shard,
    standing: toStanding(row.standing),
    settings: settingsOf(openSettings(seals, row.id, row.settings)),
    session: {
      state: isSessionState(row.session_state) ? row.session_state : 'closed',
      reason: row.session_reason,
      sinceMs: row.session_since.getTime(),
      linked: row.linked,
      phone: row.phone,
      lid: row.lid,
      deviceId: row.device_id,
      pushName: row.push_name,
    },
    sleep: row.sleep_override,
    createdAtMs: row.created_at.getTime(),
    deleted: row.deleted_at !== null,
  };
}

/** A reason this version does not know still means that the channel may not be billed. */
function toStanding(stored: string): Standing {
  return stored === 'good' || stored === 'over_free_allowance' ? stored : 'past_due';
}

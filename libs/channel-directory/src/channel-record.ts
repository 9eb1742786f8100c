import { narrowed, type RowOfColumns } from '@dormouse/database';
import { isSessionState, settingsOf, type ChannelSettings, type SessionState } from '@dormouse/gateway-contract';
import { openSettings } from './sealed-settings.js';
import type { ChannelSeals } from './sealed-values.js';

/** 'good', or why the channel may not be billed. */
export type Standing = 'good' | 'past_due' | 'over_free_allowance';

/** The last state of the session that its owner stored. */
export interface ChannelSession {
  state: SessionState;
  /** Name of the close reason of the session; null while nothing is wrong. */
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
  /** Interval between two wakes that only receive what arrived meanwhile, in milliseconds. */
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

/** The columns of a {@link ChannelRow}; the token hash never leaves the database. */
export const CHANNEL_COLUMNS = `id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at`;

export const CHANNEL_ROW = {
  id: 'text',
  account_id: 'text',
  name: 'text',
  shard: 'int4',
  standing: 'text',
  settings: 'jsonb',
  session_state: 'text',
  session_reason: 'text?',
  session_since: 'timestamptz',
  linked: 'bool',
  phone: 'text?',
  lid: 'text?',
  device_id: 'int4?',
  push_name: 'text?',
  sleep_override: narrowed<SleepOverride | null>('jsonb?'),
  created_at: 'timestamptz',
  deleted_at: 'timestamptz?',
} as const;

/** A row of `channels` as the driver gives it. */
export type ChannelRow = RowOfColumns<typeof CHANNEL_ROW>;

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
export function toStanding(stored: string): Standing {
  return stored === 'good' || stored === 'over_free_allowance' ? stored : 'past_due';
}

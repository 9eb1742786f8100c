/** Many channels as the lists of their account show them: without their settings, so that nothing is decrypted. */
import { defineStatement, narrowed, type RegionalDatabase, type RowOf } from '@dormouse/database';
import { isSessionState } from '@dormouse/gateway-contract';
import { toStanding, type ChannelSession, type SleepOverride, type Standing } from './channel-record.js';

type Pool = RegionalDatabase['pool'];

/** What the region knows of a live channel. */
export interface ChannelOverview {
  id: string;
  shard: number;
  standing: Standing;
  session: ChannelSession;
  sleep: SleepOverride | null;
  /** Setting `legacy_status_text`. */
  legacyText: boolean;
  /** It was linked at least once. */
  everLinked: boolean;
  /** For how many days it stores messages; null: as long as in the region. */
  retentionDays: number | null;
  /** When it is woken by itself, in epoch milliseconds; null while it is awake. */
  wakeAtMs: number | null;
  createdAtMs: number;
}

const OVERVIEWS = defineStatement({
  name: 'channel-overviews',
  text: `SELECT id, shard, standing, coalesce(settings -> 'legacy_status_text' = 'true', false) AS legacy_text, session_state,
           session_reason, session_since, linked, first_linked_at IS NOT NULL AS ever_linked, phone, lid, device_id, push_name,
           sleep_override, retention_days, wake_at, created_at
         FROM channels WHERE id = ANY ($1) AND deleted_at IS NULL`,
  parameters: ['text[]'],
  row: {
    id: 'text',
    shard: 'int4',
    standing: 'text',
    legacy_text: 'bool',
    session_state: 'text',
    session_reason: 'text?',
    session_since: 'timestamptz',
    linked: 'bool',
    ever_linked: 'bool',
    phone: 'text?',
    lid: 'text?',
    device_id: 'int4?',
    push_name: 'text?',
    sleep_override: narrowed<SleepOverride | null>('jsonb?'),
    retention_days: 'int4?',
    wake_at: 'timestamptz?',
    created_at: 'timestamptz',
  },
});

const OF_PHONE = defineStatement({
  name: 'channels-of-phone',
  text: `SELECT id FROM channels
         WHERE account_id = $1 AND deleted_at IS NULL AND position($2 IN phone) > 0 ORDER BY id LIMIT $3`,
  parameters: ['text', 'text', 'int8'],
  row: { id: 'text' },
});

/** The live channels of these ids, in one query; those that do not exist are left out. */
export async function channelOverviews(pool: Pool, ids: readonly string[]): Promise<Map<string, ChannelOverview>> {
  return new Map((await OVERVIEWS.all(pool, ids)).map((row) => [row.id, overviewOf(row)]));
}

/** Ids of the account's channels whose linked number contains these digits. */
export async function channelsOfPhone(pool: Pool, accountId: string, digits: string, limit: number): Promise<string[]> {
  return (await OF_PHONE.all(pool, accountId, digits, limit)).map(({ id }) => id);
}

function overviewOf(row: RowOf<typeof OVERVIEWS>): ChannelOverview {
  return {
    id: row.id,
    shard: row.shard,
    standing: toStanding(row.standing),
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
    legacyText: row.legacy_text,
    everLinked: row.ever_linked,
    retentionDays: row.retention_days,
    wakeAtMs: row.wake_at?.getTime() ?? null,
    createdAtMs: row.created_at.getTime(),
  };
}

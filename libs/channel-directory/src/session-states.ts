/**
 * The states of sessions that their owners store, under the fence.
 *
 * Most moves change nothing that a customer can see: a session falls asleep, sleeps, is woken, is open again. They are one
 * statement, with no look at the whole channel and no event.
 */
import { defineStatement, FENCE_CTE, FencedError, storable, type Fence, type Queryable } from '@dormouse/database';
import type { SessionState } from '@dormouse/gateway-contract';

/** What the owner of the session reports; fields that are absent stay as they are, null clears. */
export interface SessionStateChange {
  state: SessionState;
  /** Name of the close reason; absent clears it. */
  reason?: string | null;
  linked?: boolean;
  phone?: string | null;
  lid?: string | null;
  deviceId?: number | null;
  pushName?: string | null;
}

const RECORD_SESSION_STATE = defineStatement({
  name: 'record-session-state',
  text: `
WITH ${FENCE_CTE}, changed AS (
  UPDATE channels SET
    session_since = CASE WHEN session_state = $4 THEN session_since ELSE now() END,
    session_state = $4,
    session_reason = $5,
    linked = coalesce($6::boolean, linked),
    first_linked_at = coalesce(first_linked_at, CASE WHEN $6::boolean THEN now() END),
    billing_due = billing_due OR (coalesce($6::boolean, false) AND first_linked_at IS NULL),
    phone = CASE WHEN $7::boolean THEN $8 ELSE phone END,
    lid = CASE WHEN $9::boolean THEN $10 ELSE lid END,
    device_id = CASE WHEN $11::boolean THEN $12::int ELSE device_id END,
    push_name = CASE WHEN $13::boolean THEN $14 ELSE push_name END
  FROM fence WHERE id = $3 AND shard = $1
  RETURNING id
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT count(*) FROM changed) AS changed`,
  parameters: [
    'int4',
    'int8',
    'text',
    'text',
    'text?',
    'bool?',
    'bool',
    'text?',
    'bool',
    'text?',
    'bool',
    'int4?',
    'bool',
    'text?',
  ],
  row: { fenced: 'int8', changed: 'int8' },
});

/** A number that sleeps, or is on the way there or back, works as far as its customer can notice. */
export const CONNECTED_TO_CUSTOMERS: readonly SessionState[] = ['open', 'hibernating', 'hibernated', 'waking'];

const RECORD_SILENTLY = defineStatement({
  name: 'record-silent-state',
  text: `
WITH ${FENCE_CTE}, changed AS (
  UPDATE channels SET
    session_since = CASE WHEN session_state = $4 THEN session_since ELSE now() END,
    session_state = $4
  FROM fence WHERE id = $3 AND shard = $1 AND linked AND deleted_at IS NULL
    AND session_reason IS NULL AND session_state = ANY($5)
    AND (NOT $6::boolean OR phone IS NOT DISTINCT FROM $7)
    AND (NOT $8::boolean OR lid IS NOT DISTINCT FROM $9)
    AND (NOT $10::boolean OR device_id IS NOT DISTINCT FROM $11::int)
    AND (NOT $12::boolean OR push_name IS NOT DISTINCT FROM $13)
  RETURNING id
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT count(*) FROM changed) AS changed`,
  parameters: [
    ...['int4', 'int8', 'text', 'text', 'text[]'],
    ...['bool', 'text?', 'bool', 'text?', 'bool', 'int4?', 'bool', 'text?'],
  ] as const,
  row: { fenced: 'int8', changed: 'int8' },
});

/** See `ChannelDirectory.recordSessionState`. */
export async function recordSessionState(
  on: Queryable,
  fence: Fence,
  channelId: string,
  change: SessionStateChange,
): Promise<boolean> {
  const given = (value: unknown): boolean => value !== undefined;
  const row = await RECORD_SESSION_STATE.first(
    on,
    fence.shard,
    fence.epoch,
    channelId,
    change.state,
    change.reason ?? null,
    change.linked ?? null,
    given(change.phone),
    change.phone ?? null,
    given(change.lid),
    change.lid ?? null,
    given(change.deviceId),
    change.deviceId ?? null,
    given(change.pushName),
    change.pushName == null ? null : storable(change.pushName),
  );
  if (row?.fenced !== '1') throw new FencedError(fence);
  return row.changed === '1';
}

/**
 * Stores a state if that changes nothing that the customer can see; only the owner of the channel's shard may.
 * @returns false when it would be seen, or the channel does not exist in the fence's shard; nothing was written then
 * @throws {FencedError} when the shard has a newer owner; nothing was written then
 */
export async function recordSilentState(
  on: Queryable,
  fence: Fence,
  channelId: string,
  { state, reason, linked, phone, lid, deviceId, pushName }: SessionStateChange,
): Promise<boolean> {
  if (!CONNECTED_TO_CUSTOMERS.includes(state) || (reason ?? null) !== null || linked === false) return false;
  const row = await RECORD_SILENTLY.first(
    on,
    ...([fence.shard, fence.epoch, channelId, state, CONNECTED_TO_CUSTOMERS] as const),
    ...([phone !== undefined, phone ?? null, lid !== undefined, lid ?? null] as const),
    ...([deviceId !== undefined, deviceId ?? null] as const),
    ...([pushName !== undefined, pushName == null ? null : storable(pushName)] as const),
  );
  if (row?.fenced !== '1') throw new FencedError(fence);
  return row.changed === '1';
}

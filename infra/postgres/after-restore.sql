-- What a region's database needs after it was restored to an earlier time, before any app starts on it: infra/runbooks/restore.md.
-- In one transaction (psql -1); run twice it does no harm.

-- Workers that still run are fenced out, and names of snapshots that were written after that time are not used again.
UPDATE shard_leases SET owner_id = NULL, expires_at = NULL, epoch = epoch + 1000000;

-- Keys of conversations may be older than their last use. Used twice they make messages unreadable, or drop them silently at the
-- receiver: without them both sides agree on new ones. Awake numbers have them in rows, sleeping ones in their snapshots.
DELETE FROM auth_keys WHERE type IN ('session', 'sender-key', 'sender-key-memory');
UPDATE channels SET snapshots =
  (SELECT jsonb_agg(entry || '{"restored": true}' ORDER BY place)
   FROM jsonb_array_elements(snapshots) WITH ORDINALITY AS entries(entry, place))
WHERE jsonb_array_length(snapshots) > 0;

-- Customers have seen higher numbers of events: those that follow stay above them.
UPDATE event_sequences SET last_seq = last_seq + 1000000;

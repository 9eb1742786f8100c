-- What the global database needs after a region's database was restored to an earlier time, before the region's edges start:
-- infra/runbooks/restore.md. It is newer than the region: what reached the region after that time is brought there again.
--   psql "$URL" -v ON_ERROR_STOP=1 -1 -v region=sg -v target='2026-11-29 21:30:00+00' -f infra/postgres/after-restore-global.sql
-- As the owner of the tables (the account of `prepare`). Run again before the edges start it does no harm; later it would refuse tokens
-- that were rotated since.

-- Channels that were deleted are live in the region, with valid tokens. All deleted ones, not only those since the target: a region that
-- was away gets a deletion long after it began. One that the region has is not changed by it.
UPDATE channels SET unsettled_since = now()
WHERE region = :'region' AND deleted_at IS NOT NULL AND unsettled_since IS NULL;

-- Tokens that were replaced are valid again, and their replacements are not known anywhere: only the region had their hashes. A token
-- that nobody has takes their place. One that still waits for the region stays.
UPDATE channels SET pending_token_hash = sha256(gen_random_uuid()::text::bytea),
  token_version = greatest(token_version + 1, (extract(epoch FROM clock_timestamp()) * 1000)::int8)
WHERE region = :'region' AND deleted_at IS NULL AND pending_token_hash IS NULL
  AND token_version >= (extract(epoch FROM :'target'::timestamptz) * 1000)::int8
-- Tell these accounts: the channel has no token until it is rotated again.
RETURNING account_id, id AS rotate_again;

-- An older standing never replaces a newer one.
UPDATE channel_standings SET delivered_version = 0 WHERE region = :'region';

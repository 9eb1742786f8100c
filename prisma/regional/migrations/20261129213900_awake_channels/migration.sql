-- The few channels of a shard that are awake, among any number that sleep: read by a worker that takes the shard over.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "channels_awake_idx" ON "channels" ("shard", "id")
  WHERE "linked" AND "deleted_at" IS NULL AND "session_state" <> 'hibernated';

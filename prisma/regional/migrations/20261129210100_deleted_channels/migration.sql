-- Deleted channels of which something may be left: few among many, looked for every minute.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "channels_deleted_idx" ON "channels" ("id") WHERE "deleted_at" IS NOT NULL;

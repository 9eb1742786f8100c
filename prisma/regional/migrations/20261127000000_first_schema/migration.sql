-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "channels" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" BYTEA,
    "shard" INTEGER NOT NULL,
    "standing" TEXT NOT NULL DEFAULT 'good',
    "settings" JSONB NOT NULL DEFAULT '{}',
    "session_state" TEXT NOT NULL DEFAULT 'closed',
    "session_reason" TEXT,
    "session_since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "linked" BOOLEAN NOT NULL DEFAULT false,
    "phone" TEXT,
    "lid" TEXT,
    "device_id" INTEGER,
    "push_name" TEXT,
    "sleep_override" JSONB,
    "snapshots" JSONB NOT NULL DEFAULT '[]',
    "wake_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "channels_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "shard_leases" (
    "shard" INTEGER NOT NULL,
    "owner_id" TEXT,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3),
    "placed_on" TEXT,

    CONSTRAINT "shard_leases_pkey" PRIMARY KEY ("shard")
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "heartbeat_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "draining" BOOLEAN NOT NULL DEFAULT false,
    "drained_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "wake_latencies" (
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "worker_id" TEXT NOT NULL,
    "up_to_ms" INTEGER NOT NULL,
    "wakes" INTEGER NOT NULL,
    "max_ms" INTEGER NOT NULL,

    CONSTRAINT "wake_latencies_pkey" PRIMARY KEY ("minute","worker_id","up_to_ms")
);

-- CreateTable
CREATE TABLE "channel_keys" (
    "channel_id" TEXT NOT NULL,
    "master_key_id" TEXT NOT NULL,
    "wrapped_key" BYTEA NOT NULL,

    CONSTRAINT "channel_keys_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "auth_creds" (
    "channel_id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "epoch" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "auth_creds_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "auth_keys" (
    "channel_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "epoch" BIGINT NOT NULL,

    CONSTRAINT "auth_keys_pkey" PRIMARY KEY ("channel_id","type","id")
);

-- CreateTable
CREATE TABLE "chats" (
    "channel_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "name" TEXT,
    "timestamp" BIGINT NOT NULL DEFAULT 0,
    "unread" INTEGER NOT NULL DEFAULT 0,
    "pinned" BOOLEAN NOT NULL DEFAULT false,
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "mute_until_ms" BIGINT NOT NULL DEFAULT 0,
    "last_message_id" TEXT,

    CONSTRAINT "chats_pkey" PRIMARY KEY ("channel_id","id")
);

-- CreateTable
CREATE TABLE "contacts" (
    "channel_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT,
    "push_name" TEXT,
    "lid" TEXT,
    "business" BOOLEAN NOT NULL DEFAULT false,
    "about" TEXT,
    "picture" TEXT,
    "picture_full" TEXT,

    CONSTRAINT "contacts_pkey" PRIMARY KEY ("channel_id","id")
);

-- CreateTable
CREATE TABLE "chat_removals" (
    "id" BIGSERIAL NOT NULL,
    "channel_id" TEXT NOT NULL,
    "chat_id" TEXT NOT NULL,
    "said_until_s" BIGINT,
    "stored_until" TIMESTAMPTZ(3),

    CONSTRAINT "chat_removals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "stored_numbers" (
    "channel_id" TEXT NOT NULL,
    "phone" TEXT NOT NULL,

    CONSTRAINT "stored_numbers_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "row_counts" (
    "channel_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "chat_id" TEXT NOT NULL DEFAULT '',
    "rows" BIGINT NOT NULL,
    "system_rows" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "row_counts_pkey" PRIMARY KEY ("channel_id","kind","chat_id")
);

-- CreateTable
CREATE TABLE "groups" (
    "channel_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "member" BOOLEAN NOT NULL,
    "stale" BOOLEAN NOT NULL DEFAULT false,
    "version" BIGINT NOT NULL DEFAULT 0,
    "facts" JSONB NOT NULL,
    "members" JSONB NOT NULL,

    CONSTRAINT "groups_pkey" PRIMARY KEY ("channel_id","id")
);

-- CreateTable
CREATE TABLE "group_syncs" (
    "channel_id" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "synced_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "group_syncs_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "messages" (
    "channel_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "chat_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "key_remote" TEXT NOT NULL,
    "key_participant" TEXT,
    "from_me" BOOLEAN NOT NULL,
    "author" TEXT,
    "author_name" TEXT,
    "type" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "timestamp" BIGINT NOT NULL,
    "device_id" INTEGER,
    "status" TEXT,
    "content" JSONB NOT NULL,
    "proto" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("channel_id","id")
);

-- CreateTable
CREATE TABLE "receipts" (
    "channel_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "viewer_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "timestamp" BIGINT NOT NULL,
    "errors" JSONB,

    CONSTRAINT "receipts_pkey" PRIMARY KEY ("channel_id","key_id","viewer_id","status")
);

-- CreateTable
CREATE TABLE "event_sequences" (
    "channel_id" TEXT NOT NULL,
    "last_seq" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "event_sequences_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "events" (
    "channel_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "webhook_id" TEXT,

    CONSTRAINT "events_pkey" PRIMARY KEY ("channel_id","seq")
);

-- CreateTable
CREATE TABLE "webhook_cursors" (
    "channel_id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "leased_by" TEXT,
    "leased_until" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "redriving" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "webhook_cursors_pkey" PRIMARY KEY ("channel_id","webhook_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "channels_token_hash_key" ON "channels"("token_hash");

-- CreateIndex
CREATE INDEX "channels_shard_linked_idx" ON "channels"("shard", "linked");

-- CreateIndex
CREATE INDEX "channels_shard_wake_at_idx" ON "channels"("shard", "wake_at");

-- CreateIndex
CREATE INDEX "channels_account_id_idx" ON "channels"("account_id");

-- CreateIndex
CREATE INDEX "channels_deleted_at_session_state_shard_id_idx" ON "channels"("deleted_at", "session_state", "shard", "id");

-- CreateIndex
CREATE UNIQUE INDEX "shard_leases_shard_epoch_key" ON "shard_leases"("shard", "epoch");

-- CreateIndex
CREATE INDEX "chats_channel_id_timestamp_id_idx" ON "chats"("channel_id", "timestamp" DESC, "id");

-- CreateIndex
CREATE INDEX "messages_channel_id_timestamp_id_idx" ON "messages"("channel_id", "timestamp", "id");

-- CreateIndex
CREATE INDEX "messages_channel_id_chat_id_timestamp_id_idx" ON "messages"("channel_id", "chat_id", "timestamp", "id");

-- CreateIndex
CREATE INDEX "messages_channel_id_author_timestamp_id_idx" ON "messages"("channel_id", "author", "timestamp", "id");

-- CreateIndex
CREATE INDEX "messages_channel_id_key_id_idx" ON "messages"("channel_id", "key_id");

-- CreateIndex
CREATE UNIQUE INDEX "events_id_key" ON "events"("id");

-- CreateIndex
CREATE INDEX "webhook_cursors_attempts_next_attempt_at_idx" ON "webhook_cursors"("attempts", "next_attempt_at");

-- CreateTable
CREATE TABLE "webhook_secrets" (
    "channel_id" TEXT NOT NULL,
    "secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("channel_id","secret")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "channel_id" TEXT NOT NULL,
    "key" BYTEA NOT NULL,
    "request" BYTEA NOT NULL,
    "answer" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("channel_id","key")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateTable
CREATE TABLE "webhook_attempts" (
    "id" BIGSERIAL NOT NULL,
    "channel_id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "event_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "outcome" TEXT NOT NULL,
    "status" INTEGER,
    "error" TEXT,
    "took_ms" INTEGER NOT NULL,
    "answer" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "channel_id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "died_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL,
    "last_status" INTEGER,
    "last_error" TEXT,
    "redrive_at" TIMESTAMPTZ(3),

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("channel_id","webhook_id","seq")
);

-- CreateIndex
CREATE INDEX "webhook_attempts_channel_id_id_idx" ON "webhook_attempts"("channel_id", "id");

-- CreateIndex
CREATE INDEX "dead_letters_channel_id_seq_idx" ON "dead_letters"("channel_id", "seq");

-- CreateTable
CREATE TABLE "media_objects" (
    "key" TEXT NOT NULL,
    "channel_id" TEXT NOT NULL,
    "sha256" BYTEA NOT NULL,
    "size" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "stored_at" TIMESTAMPTZ(3),
    "doomed_at" TIMESTAMPTZ(3),

    CONSTRAINT "media_objects_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "media_files" (
    "channel_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "object_key" TEXT,
    "mime_type" TEXT NOT NULL,
    "file_name" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "media_files_pkey" PRIMARY KEY ("channel_id","id")
);

-- CreateTable
CREATE TABLE "media_network_copies" (
    "object_key" TEXT NOT NULL,
    "variant" TEXT NOT NULL,
    "direct_path" TEXT NOT NULL,
    "url" TEXT,
    "media_key" BYTEA NOT NULL,
    "file_sha256" BYTEA NOT NULL,
    "file_enc_sha256" BYTEA NOT NULL,
    "file_length" BIGINT NOT NULL,
    "prepared" JSONB NOT NULL,
    "uploaded_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "media_network_copies_pkey" PRIMARY KEY ("object_key","variant")
);

-- CreateIndex
CREATE INDEX "media_objects_channel_id_sha256_idx" ON "media_objects"("channel_id", "sha256");

-- CreateIndex
CREATE INDEX "media_objects_doomed_at_idx" ON "media_objects"("doomed_at");

-- CreateIndex
CREATE INDEX "media_files_channel_id_origin_created_at_id_idx" ON "media_files"("channel_id", "origin", "created_at", "id");

-- CreateIndex
CREATE INDEX "media_files_object_key_idx" ON "media_files"("object_key");

-- CreateIndex
CREATE INDEX "media_files_expires_at_idx" ON "media_files"("expires_at");

-- AddForeignKey
ALTER TABLE "media_files" ADD CONSTRAINT "media_files_object_key_fkey" FOREIGN KEY ("object_key") REFERENCES "media_objects"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "media_network_copies" ADD CONSTRAINT "media_network_copies_object_key_fkey" FOREIGN KEY ("object_key") REFERENCES "media_objects"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateIndex
CREATE INDEX "contacts_channel_id_lid_idx" ON "contacts"("channel_id", "lid");

-- CreateIndex
CREATE INDEX "chat_removals_channel_id_id_idx" ON "chat_removals"("channel_id", "id");

-- People who are known by LID only, where a number will take its place: few, and found without reading the rest.
CREATE INDEX "messages_with_lids_idx" ON "messages" ("channel_id") WHERE "content"::text LIKE '%@lid"%';
CREATE INDEX "receipts_of_lids_idx" ON "receipts" ("channel_id", "viewer_id") WHERE "viewer_id" LIKE '%@lid';

-- Counts of rows, once per statement. Writers of one channel pass one by one, so they do not wait for each other here.
CREATE FUNCTION "count_messages"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO row_counts AS known (channel_id, kind, chat_id, rows, system_rows)
  SELECT channel_id, 'messages', coalesce(chat_id, ''), sign * count(*), sign * count(*) FILTER (WHERE type = 'system')
  FROM changed GROUP BY GROUPING SETS ((channel_id, chat_id), (channel_id)) ORDER BY 1, 3
  ON CONFLICT (channel_id, kind, chat_id) DO UPDATE SET
    rows = known.rows + excluded.rows, system_rows = known.system_rows + excluded.system_rows;
  RETURN NULL;
END $$;

CREATE FUNCTION "count_rows"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign CONSTANT int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
  INSERT INTO row_counts AS known (channel_id, kind, rows)
  SELECT channel_id, TG_TABLE_NAME, sign * count(*) FROM changed GROUP BY channel_id ORDER BY 1
  ON CONFLICT (channel_id, kind, chat_id) DO UPDATE SET rows = known.rows + excluded.rows;
  RETURN NULL;
END $$;

CREATE TRIGGER "messages_added" AFTER INSERT ON "messages" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_messages"();
CREATE TRIGGER "messages_gone" AFTER DELETE ON "messages" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_messages"();
CREATE TRIGGER "chats_added" AFTER INSERT ON "chats" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_rows"();
CREATE TRIGGER "chats_gone" AFTER DELETE ON "chats" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_rows"();
CREATE TRIGGER "contacts_added" AFTER INSERT ON "contacts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_rows"();
CREATE TRIGGER "contacts_gone" AFTER DELETE ON "contacts" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_rows"();

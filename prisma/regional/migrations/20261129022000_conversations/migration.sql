-- A failing event holds up its conversation only. What a webhook did not accept, and what waits behind it in the same
-- conversation, is recorded beside the position, so that the position can move on.

-- The chat of an event whose payload does not name it. Null: what the payload says.
ALTER TABLE "events" ADD COLUMN "conversation" TEXT;

CREATE TABLE "webhook_held_events" (
    "channel_id" TEXT NOT NULL,
    "webhook_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "conversation" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "first_failed_at" TIMESTAMPTZ(3),
    "set_aside_at" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,

    CONSTRAINT "webhook_held_events_pkey" PRIMARY KEY ("channel_id","webhook_id","seq")
);
CREATE INDEX "webhook_held_events_channel_id_webhook_id_conversation_seq_idx" ON "webhook_held_events"("channel_id", "webhook_id", "conversation", "seq");
CREATE INDEX "webhook_held_events_channel_id_webhook_id_next_attempt_at_idx" ON "webhook_held_events"("channel_id", "webhook_id", "next_attempt_at");

ALTER TABLE "webhook_cursors"
    ADD COLUMN "account_id" TEXT NOT NULL DEFAULT '',
    ADD COLUMN "refusals" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "paused" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "has_held" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "accepted_at" TIMESTAMPTZ(3),
    ADD COLUMN "turn_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ADD COLUMN "redirects_to" TEXT,
    ALTER COLUMN "next_attempt_at" DROP NOT NULL,
    ALTER COLUMN "next_attempt_at" DROP DEFAULT;

UPDATE "webhook_cursors" c SET "account_id" = ch."account_id", "paused" = c."attempts" > 0,
    "next_attempt_at" = CASE WHEN c."attempts" > 0 OR c."redriving" THEN c."next_attempt_at" END
FROM "channels" ch WHERE ch."id" = c."channel_id";

-- Only webhooks with something to try again are in these. A healthy one is in neither, and none of its columns that
-- delivery changes is in any index.
DROP INDEX "webhook_cursors_attempts_next_attempt_at_idx";
CREATE INDEX "webhook_cursors_retries_idx" ON "webhook_cursors" ("account_id", "next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;
CREATE INDEX "webhook_cursors_next_retry_idx" ON "webhook_cursors" ("next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;

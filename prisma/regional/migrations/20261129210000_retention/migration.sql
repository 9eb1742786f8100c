-- How long a channel's messages are stored, and what is left of deleted channels.
ALTER TABLE "channels" ADD COLUMN "retention_days" INTEGER,
  ADD COLUMN "purged_at" TIMESTAMPTZ(3);

CREATE TABLE "retention_rounds" (
    "name" TEXT NOT NULL,
    "held_by" TEXT,
    "held_until" TIMESTAMPTZ(3),
    "after_channel" TEXT NOT NULL DEFAULT '',
    "rounds" INTEGER NOT NULL DEFAULT 0,
    "ended_at" TIMESTAMPTZ(3),
    "overdue_s" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "retention_rounds_pkey" PRIMARY KEY ("name")
);

-- The key that the secrets among a channel's settings are sealed under; null: not sealed (stored before there were keys,
-- or there are none among them).
ALTER TABLE "channels" ADD COLUMN "settings_key_id" TEXT;

-- A sealed secret is another text each time it is sealed: rows are named by a number instead.
ALTER TABLE "webhook_secrets" DROP CONSTRAINT "webhook_secrets_pkey";
ALTER TABLE "webhook_secrets" ADD COLUMN "id" BIGSERIAL NOT NULL;
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("id");
ALTER TABLE "webhook_secrets" ADD COLUMN "key_id" TEXT;
CREATE INDEX "webhook_secrets_channel_id_idx" ON "webhook_secrets"("channel_id");

-- Whose database this is: one row, written by the first worker that starts on it.
CREATE TABLE "region" (
    "only" BOOLEAN NOT NULL DEFAULT true,
    "name" TEXT NOT NULL,
    CONSTRAINT "region_pkey" PRIMARY KEY ("only"),
    CONSTRAINT "region_only" CHECK ("only")
);

-- By which the master keys of a start are compared with those of the starts before.
CREATE TABLE "master_key_prints" (
    "purpose" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "print" BYTEA NOT NULL,
    CONSTRAINT "master_key_prints_pkey" PRIMARY KEY ("purpose","key_id")
);

-- AlterTable
ALTER TABLE "channels" ADD COLUMN     "pending_token_hash" BYTEA,
ADD COLUMN     "token_version" BIGINT NOT NULL DEFAULT 0;

-- Tokens that their region has not got yet: none most of the time, looked for every second.
CREATE INDEX "channels_pending_token_idx" ON "channels" ("region") WHERE "pending_token_hash" IS NOT NULL;

-- AlterTable
ALTER TABLE "channels" ADD COLUMN     "pending_token_hash" BYTEA,
ADD COLUMN     "token_version" BIGINT NOT NULL DEFAULT 0;

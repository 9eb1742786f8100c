-- AlterTable
ALTER TABLE "channels" ADD COLUMN     "token_version" BIGINT NOT NULL DEFAULT 0;

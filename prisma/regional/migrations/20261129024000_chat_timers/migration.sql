-- How long messages of a chat of two stay, and since when that holds: sends follow it.
ALTER TABLE "chats" ADD COLUMN "ephemeral_s" INTEGER, ADD COLUMN "ephemeral_at" BIGINT;

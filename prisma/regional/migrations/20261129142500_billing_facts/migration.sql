-- What billing reads of a channel, and the version of the standing that it wrote last.
ALTER TABLE "channels" ADD COLUMN "first_linked_at" TIMESTAMPTZ(3),
  ADD COLUMN "billing_due" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "standing_version" BIGINT NOT NULL DEFAULT 0;

-- When the numbers that exist were linked first was not recorded: they keep the order of their creation.
UPDATE "channels" SET "first_linked_at" = "created_at", "billing_due" = true
WHERE "deleted_at" IS NULL AND ("linked" OR "phone" IS NOT NULL OR "session_reason" = 'unlinked');

CREATE INDEX "channels_billing_due_idx" ON "channels" ("first_linked_at", "id") WHERE "billing_due";

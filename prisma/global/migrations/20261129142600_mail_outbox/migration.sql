-- CreateTable
CREATE TABLE "mail_outbox" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "reason" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "to_address" TEXT,
    "to_name" TEXT,
    "to_user_id" TEXT,
    "to_account_id" TEXT,
    "to_audience" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "outcome" TEXT,
    "ended_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "mail_outbox_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "mail_outbox_reason_key" ON "mail_outbox"("reason");

-- CreateIndex
CREATE INDEX "mail_outbox_ended_at_idx" ON "mail_outbox"("ended_at");

-- What is still to be sent, in the order in which it is due. Mail that has ended has no next attempt.
CREATE INDEX "mail_outbox_due_idx" ON "mail_outbox" ("next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;

-- AlterTable
ALTER TABLE "billing_accounts" ADD COLUMN     "declined" JSONB,
ADD COLUMN     "facts" JSONB,
ADD COLUMN     "fingerprint" TEXT,
ADD COLUMN     "stopped_for" TEXT,
ADD COLUMN     "watched_until" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "billing_turns" (
    "account_id" TEXT NOT NULL,
    "wanted" BIGINT NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),
    "holder" UUID,
    "held_until" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "billing_turns_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "stripe_intents" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "outcome" TEXT,

    CONSTRAINT "stripe_intents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "billing_previews" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "quantity" INTEGER NOT NULL,
    "amount" INTEGER NOT NULL,
    "currency" TEXT NOT NULL,
    "proration_date" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "accepted_at" TIMESTAMPTZ(3),

    CONSTRAINT "billing_previews_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "billing_turns_due_at_idx" ON "billing_turns"("due_at");

-- CreateIndex
CREATE INDEX "stripe_intents_finished_at_idx" ON "stripe_intents"("finished_at");

-- CreateIndex
CREATE INDEX "billing_previews_account_id_accepted_at_idx" ON "billing_previews"("account_id", "accepted_at");

-- CreateIndex
CREATE INDEX "billing_previews_created_at_idx" ON "billing_previews"("created_at");

-- One open change of a kind for an account: two clicks make one.
CREATE UNIQUE INDEX "stripe_intents_open_idx" ON "stripe_intents"("account_id", "kind") WHERE "finished_at" IS NULL;

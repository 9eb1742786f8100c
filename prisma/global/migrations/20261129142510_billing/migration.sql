-- CreateTable
CREATE TABLE "billing_accounts" (
    "account_id" TEXT NOT NULL,
    "stripe_customer_id" TEXT,
    "subscription_id" TEXT,
    "subscription_status" TEXT,
    "paused_kind" TEXT,
    "bought" INTEGER NOT NULL DEFAULT 0,
    "current_period_start" TIMESTAMPTZ(3),
    "current_period_end" TIMESTAMPTZ(3),
    "cancel_at_period_end" BOOLEAN NOT NULL DEFAULT false,
    "oldest_unpaid_at" TIMESTAMPTZ(3),
    "open_invoice_url" TEXT,
    "buy_limit" INTEGER NOT NULL DEFAULT 0,
    "refreshed_at" TIMESTAMPTZ(3),
    "dirty_since" TIMESTAMPTZ(3),
    "recompute_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "billing_accounts_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "billed_numbers" (
    "channel_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "first_linked_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "billed_numbers_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "free_number_gifts" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "numbers" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "granted_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ends_at" TIMESTAMPTZ(3),

    CONSTRAINT "free_number_gifts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "channel_standings" (
    "channel_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "standing" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "delivered_version" BIGINT NOT NULL DEFAULT 0,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "channel_standings_pkey" PRIMARY KEY ("channel_id")
);

-- CreateTable
CREATE TABLE "stripe_events" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "customer_id" TEXT,
    "created" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "handled_at" TIMESTAMPTZ(3),

    CONSTRAINT "stripe_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "billing_rules" (
    "only" BOOLEAN NOT NULL DEFAULT true,
    "is_on" BOOLEAN NOT NULL,
    "free_numbers" INTEGER NOT NULL,
    "grace_ms" BIGINT NOT NULL,

    CONSTRAINT "billing_rules_pkey" PRIMARY KEY ("only")
);

-- CreateIndex
CREATE UNIQUE INDEX "billing_accounts_stripe_customer_id_key" ON "billing_accounts"("stripe_customer_id");

-- CreateIndex
CREATE INDEX "billed_numbers_account_id_first_linked_at_channel_id_idx" ON "billed_numbers"("account_id", "first_linked_at", "channel_id");

-- CreateIndex
CREATE INDEX "free_number_gifts_account_id_idx" ON "free_number_gifts"("account_id");

-- CreateIndex
CREATE INDEX "channel_standings_account_id_idx" ON "channel_standings"("account_id");

-- CreateIndex
CREATE INDEX "stripe_events_customer_id_received_at_idx" ON "stripe_events"("customer_id", "received_at");

-- What the schedulers look for: few rows of many.
CREATE INDEX "billing_accounts_dirty_idx" ON "billing_accounts" ("dirty_since") WHERE "dirty_since" IS NOT NULL;
CREATE INDEX "billing_accounts_recompute_idx" ON "billing_accounts" ("recompute_at") WHERE "recompute_at" IS NOT NULL;
CREATE INDEX "channel_standings_undelivered_idx" ON "channel_standings" ("region", "changed_at") WHERE "delivered_version" < "version";
CREATE INDEX "stripe_events_unhandled_idx" ON "stripe_events" ("received_at") WHERE "handled_at" IS NULL;

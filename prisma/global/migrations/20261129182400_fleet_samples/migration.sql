-- CreateTable
CREATE TABLE "fleet_samples" (
    "region" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "figures" JSONB,

    CONSTRAINT "fleet_samples_pkey" PRIMARY KEY ("region","minute")
);

-- AlterTable
ALTER TABLE "billing_accounts" ADD COLUMN     "facts_as_of" TIMESTAMPTZ(3);

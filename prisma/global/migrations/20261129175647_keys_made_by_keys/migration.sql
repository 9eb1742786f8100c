-- AlterTable
ALTER TABLE "account_keys" ADD COLUMN     "created_by_key" TEXT;

-- AlterTable
ALTER TABLE "user_sessions" ADD COLUMN     "second_factor_at" TIMESTAMPTZ(3);

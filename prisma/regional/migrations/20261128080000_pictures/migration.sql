-- AlterTable
ALTER TABLE "contacts" ADD COLUMN     "pictures_asked_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "groups" ADD COLUMN     "picture" TEXT,
ADD COLUMN     "picture_full" TEXT,
ADD COLUMN     "pictures_asked_at" TIMESTAMPTZ(3);

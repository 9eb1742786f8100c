-- By which a worker that was started again in its pod knows the one before it, which is dead then.
ALTER TABLE "workers" ADD COLUMN "pod_uid" TEXT;

-- How many bytes of files a channel has in the object storage: a bound needs the sum with every new file.
CREATE TABLE "media_usage" (
    "channel_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "media_usage_pkey" PRIMARY KEY ("channel_id")
);

-- Kept by the database, so that no writer of an earlier version leaves it wrong. Rows of several channels are locked in
-- their order, as two sweeps may meet.
CREATE FUNCTION "count_media_bytes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO media_usage AS known (channel_id, bytes)
    SELECT channel_id, sum(size) FROM added WHERE doomed_at IS NULL GROUP BY 1 ORDER BY 1
    ON CONFLICT (channel_id) DO UPDATE SET bytes = known.bytes + excluded.bytes;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO media_usage AS known (channel_id, bytes)
    SELECT channel_id, -sum(size) FROM gone WHERE doomed_at IS NULL GROUP BY 1 ORDER BY 1
    ON CONFLICT (channel_id) DO UPDATE SET bytes = known.bytes + excluded.bytes;
  ELSE
    INSERT INTO media_usage AS known (channel_id, bytes)
    SELECT channel_id, sum(size) FROM (
      SELECT channel_id, size FROM added WHERE doomed_at IS NULL
      UNION ALL
      SELECT channel_id, -size FROM gone WHERE doomed_at IS NULL) changed
    GROUP BY 1 HAVING sum(size) <> 0 ORDER BY 1
    ON CONFLICT (channel_id) DO UPDATE SET bytes = known.bytes + excluded.bytes;
  END IF;
  RETURN NULL;
END $$;

-- Nothing is written between the sum and the triggers: both are of one transaction, and this keeps writers out of it.
LOCK TABLE "media_objects" IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO "media_usage" ("channel_id", "bytes")
SELECT "channel_id", sum("size") FROM "media_objects" WHERE "doomed_at" IS NULL GROUP BY 1;

CREATE TRIGGER "media_objects_added" AFTER INSERT ON "media_objects" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_media_bytes"();
CREATE TRIGGER "media_objects_changed" AFTER UPDATE ON "media_objects"
  REFERENCING OLD TABLE AS gone NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_media_bytes"();
CREATE TRIGGER "media_objects_gone" AFTER DELETE ON "media_objects" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION "count_media_bytes"();

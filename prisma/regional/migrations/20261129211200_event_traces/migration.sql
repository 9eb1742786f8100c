-- The trace that an event is a part of: W3C `traceparent`. Null where no traces are recorded.
ALTER TABLE "events" ADD COLUMN "traceparent" TEXT;

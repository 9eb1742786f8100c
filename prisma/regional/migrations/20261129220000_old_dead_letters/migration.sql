-- Dead letters by age: the retention looks for the oldest every hour.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "dead_letters_died_at_idx" ON "dead_letters" ("died_at");

-- Tokens that their region has not got yet: none most of the time, looked for every second.
CREATE INDEX CONCURRENTLY "channels_pending_token_idx" ON "channels" ("region") WHERE "pending_token_hash" IS NOT NULL;

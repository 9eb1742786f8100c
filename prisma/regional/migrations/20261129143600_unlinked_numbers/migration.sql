-- Numbers that were unlinked on their phones: few among many, looked for every few seconds.
CREATE INDEX "channels_unlinked_idx" ON "channels" ("session_since") WHERE "session_reason" = 'unlinked';

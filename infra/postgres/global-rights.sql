-- What each app may do in the global database, and no more. `prepare` runs it after the migrations, as the owner of the tables; by hand:
--   psql "$URL" -v ON_ERROR_STOP=1 -f infra/postgres/global-rights.sql
-- Running it again brings rights in step with it; apps go on working meanwhile. It makes the roles, without login: `prepare` gives
-- them passwords (DATABASE_PASSWORDS), or make accounts of your own: CREATE ROLE edge LOGIN PASSWORD '…' IN ROLE dormouse_edge_api.
-- tools/stack/src/repository/database-rights.int.spec.ts compares the grants with the statements of every app.
BEGIN;
-- One at a time in a database: two that write the same rights would fail.
SELECT pg_advisory_xact_lock(72707370);
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['dormouse_control_plane', 'dormouse_billing'] LOOP
    -- Who may not make roles can still run this where they exist.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- roles are those of the whole server: another database was first
      END;
    END IF;
  END LOOP;
  -- Only these connect, besides the owner; nobody but the owner makes tables, not even for a session.
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO dormouse_control_plane, dormouse_billing', current_database());
  REVOKE ALL ON SCHEMA public FROM PUBLIC;
  -- While a deploy is under way, apps of the former release still need theirs: `prepare` sets this, and `prepare --revoke` does not.
  IF current_setting('dormouse.keep_rights', true) IS DISTINCT FROM 'on' THEN
    REVOKE ALL ON SCHEMA public FROM dormouse_control_plane, dormouse_billing;
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, dormouse_control_plane, dormouse_billing;
    REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, dormouse_control_plane, dormouse_billing;
  END IF;
END
$$;
GRANT USAGE ON SCHEMA public TO dormouse_control_plane, dormouse_billing;

-- Apps do not start on a schema that is older than themselves.
GRANT SELECT (migration_name, finished_at, rolled_back_at) ON _prisma_migrations TO dormouse_control_plane, dormouse_billing;

-- control-plane
GRANT SELECT, INSERT, UPDATE, DELETE ON "account_keys" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "accounts" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "attempt_counts" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "audit_log" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "channels" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "fleet_samples" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "invitations" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "mail_outbox" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "memberships" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "user_credentials" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "user_places" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "user_second_factors" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "user_sessions" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "user_verifications" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "users" TO dormouse_control_plane;
GRANT USAGE ON SEQUENCE "audit_log_id_seq" TO dormouse_control_plane;

-- billing
GRANT SELECT, INSERT, UPDATE, DELETE ON "audit_log" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "billed_numbers" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "billing_accounts" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "billing_previews" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "billing_rules" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "billing_turns" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "channel_standings" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "free_number_gifts" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "mail_outbox" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "stripe_events" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "stripe_intents" TO dormouse_billing;
GRANT SELECT, UPDATE ON "users" TO dormouse_billing;
GRANT USAGE ON SEQUENCE "audit_log_id_seq" TO dormouse_billing;

COMMIT;

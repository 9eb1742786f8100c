-- What each app may do in a region's database, and no more. `prepare` runs it after the migrations, as the owner of the tables; by hand:
--   psql "$URL" -v ON_ERROR_STOP=1 -f infra/postgres/regional-rights.sql
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
  FOREACH name IN ARRAY ARRAY['dormouse_edge_api', 'dormouse_session_worker', 'dormouse_webhook_dispatcher', 'dormouse_control_plane', 'dormouse_billing'] LOOP
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
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO dormouse_edge_api, dormouse_session_worker, dormouse_webhook_dispatcher, dormouse_control_plane, dormouse_billing', current_database());
  REVOKE ALL ON SCHEMA public FROM PUBLIC;
  -- While a deploy is under way, apps of the former release still need theirs: `prepare` sets this, and `prepare --revoke` does not.
  IF current_setting('dormouse.keep_rights', true) IS DISTINCT FROM 'on' THEN
    REVOKE ALL ON SCHEMA public FROM dormouse_edge_api, dormouse_session_worker, dormouse_webhook_dispatcher, dormouse_control_plane, dormouse_billing;
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, dormouse_edge_api, dormouse_session_worker, dormouse_webhook_dispatcher, dormouse_control_plane, dormouse_billing;
    REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, dormouse_edge_api, dormouse_session_worker, dormouse_webhook_dispatcher, dormouse_control_plane, dormouse_billing;
  END IF;
END
$$;
GRANT USAGE ON SCHEMA public TO dormouse_edge_api, dormouse_session_worker, dormouse_webhook_dispatcher, dormouse_control_plane, dormouse_billing;

-- Apps do not start on a schema that is older than themselves.
GRANT SELECT (migration_name, finished_at, rolled_back_at) ON _prisma_migrations TO dormouse_edge_api, dormouse_session_worker, dormouse_webhook_dispatcher, dormouse_control_plane, dormouse_billing;

-- edge-api
GRANT SELECT, INSERT, UPDATE ON "channels" TO dormouse_edge_api;
GRANT SELECT, INSERT, DELETE ON "chat_removals" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "chats" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "contacts" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "dead_letters" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "event_sequences" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "events" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "group_syncs" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "groups" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "idempotency_keys" TO dormouse_edge_api;
GRANT SELECT, INSERT ON "master_key_prints" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_files" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_network_copies" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_objects" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_usage" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "messages" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "number_names" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "receipts" TO dormouse_edge_api;
GRANT SELECT, INSERT ON "region" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "row_counts" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE ON "shard_leases" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "stored_numbers" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "wake_latencies" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_attempts" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_cursors" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_held_events" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_secrets" TO dormouse_edge_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON "workers" TO dormouse_edge_api;
GRANT USAGE ON SEQUENCE "chat_removals_id_seq" TO dormouse_edge_api;
GRANT USAGE ON SEQUENCE "webhook_attempts_id_seq" TO dormouse_edge_api;
GRANT USAGE ON SEQUENCE "webhook_secrets_id_seq" TO dormouse_edge_api;

-- session-worker
GRANT SELECT, INSERT, UPDATE, DELETE ON "auth_creds" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "auth_keys" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "channel_keys" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "channels" TO dormouse_session_worker;
GRANT SELECT, INSERT, DELETE ON "chat_removals" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "chats" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "contacts" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "dead_letters" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "event_sequences" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "events" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "group_syncs" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "groups" TO dormouse_session_worker;
GRANT SELECT, INSERT ON "master_key_prints" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_files" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_network_copies" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_objects" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_usage" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "messages" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "number_names" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "receipts" TO dormouse_session_worker;
GRANT SELECT, INSERT ON "region" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "retention_rounds" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "row_counts" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE ON "shard_leases" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "stored_numbers" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "wake_latencies" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_attempts" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_cursors" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_held_events" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_secrets" TO dormouse_session_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON "workers" TO dormouse_session_worker;
GRANT USAGE ON SEQUENCE "chat_removals_id_seq" TO dormouse_session_worker;
GRANT USAGE ON SEQUENCE "webhook_attempts_id_seq" TO dormouse_session_worker;
GRANT USAGE ON SEQUENCE "webhook_secrets_id_seq" TO dormouse_session_worker;

-- webhook-dispatcher
GRANT SELECT, INSERT, UPDATE ON "channels" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "dead_letters" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "event_sequences" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, DELETE ON "events" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT ON "master_key_prints" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_files" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_network_copies" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_objects" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_usage" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT ON "region" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE ON "shard_leases" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "wake_latencies" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_attempts" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_cursors" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_held_events" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_secrets" TO dormouse_webhook_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON "workers" TO dormouse_webhook_dispatcher;
GRANT USAGE ON SEQUENCE "webhook_attempts_id_seq" TO dormouse_webhook_dispatcher;
GRANT USAGE ON SEQUENCE "webhook_secrets_id_seq" TO dormouse_webhook_dispatcher;

-- control-plane
GRANT SELECT, INSERT, UPDATE ON "channels" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "dead_letters" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "event_sequences" TO dormouse_control_plane;
GRANT SELECT, INSERT, DELETE ON "events" TO dormouse_control_plane;
GRANT SELECT, INSERT ON "master_key_prints" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_files" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_network_copies" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_objects" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "media_usage" TO dormouse_control_plane;
GRANT SELECT, INSERT ON "region" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE ON "shard_leases" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "wake_latencies" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_attempts" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_cursors" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_held_events" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_secrets" TO dormouse_control_plane;
GRANT SELECT, INSERT, UPDATE, DELETE ON "workers" TO dormouse_control_plane;
GRANT USAGE ON SEQUENCE "webhook_attempts_id_seq" TO dormouse_control_plane;
GRANT USAGE ON SEQUENCE "webhook_secrets_id_seq" TO dormouse_control_plane;

-- billing
GRANT SELECT, INSERT, UPDATE ON "channels" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "dead_letters" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "event_sequences" TO dormouse_billing;
GRANT SELECT, INSERT, DELETE ON "events" TO dormouse_billing;
GRANT SELECT, INSERT ON "master_key_prints" TO dormouse_billing;
GRANT SELECT, INSERT ON "region" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE ON "shard_leases" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "wake_latencies" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_attempts" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_cursors" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_held_events" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "webhook_secrets" TO dormouse_billing;
GRANT SELECT, INSERT, UPDATE, DELETE ON "workers" TO dormouse_billing;
GRANT USAGE ON SEQUENCE "webhook_attempts_id_seq" TO dormouse_billing;
GRANT USAGE ON SEQUENCE "webhook_secrets_id_seq" TO dormouse_billing;

COMMIT;

-- Processes that hold a channel's session are notified of changed settings, as caches are of every change.
CREATE FUNCTION "notify_settings_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('channel_settings_changed', NEW.id);
  RETURN NULL;
END $$;

CREATE TRIGGER "channels_settings_changed" AFTER UPDATE ON "channels"
  FOR EACH ROW WHEN (OLD."settings" IS DISTINCT FROM NEW."settings") EXECUTE FUNCTION "notify_settings_changed"();

-- Whoever remembers channels is told which have changed, so that it need not ask: delivered at commit, in commit order.
-- The whole row is compared, not a list of columns that a later one could be missing from.
CREATE FUNCTION "tell_channel_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'UPDATE' OR OLD.* IS DISTINCT FROM NEW.* THEN
    PERFORM pg_notify('channel_changed', coalesce(NEW.id, OLD.id));
  END IF;
  RETURN NULL;
END $$;

-- The channel directory trusts what it is told only while this trigger is here and enabled, by this name.
CREATE TRIGGER "channels_changed" AFTER INSERT OR UPDATE OR DELETE ON "channels"
  FOR EACH ROW EXECUTE FUNCTION "tell_channel_changed"();

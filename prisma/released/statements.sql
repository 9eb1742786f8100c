-- Statements of the last release, written by npm run release:snapshot: they must run on every later schema until the next release.

-- global: accept-billing-preview
UPDATE billing_previews SET accepted_at = now() WHERE id = $1 AND account_id = $2;

-- global: accept-invitation
UPDATE invitations SET accepted_at = now() WHERE token_hash = $1 AND ($2::text IS NULL OR address = $2)
           AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > now() RETURNING id, account_id, address, role, created_at, expires_at;

-- global: accepted-billing-preview
SELECT proration_date FROM billing_previews
         WHERE account_id = $1 AND quantity = $2 AND accepted_at > now() - interval '1 hour'
           AND proration_date IS NOT NULL AND proration_date >= $3 AND proration_date < $4
         ORDER BY accepted_at DESC LIMIT 1;

-- global: account-by-key
SELECT a.id, a.name, a.created_at, k.id AS key_id, k.label, k.scopes, k.created_by, k.expires_at, k.last_used_at
         FROM account_keys k JOIN accounts a ON a.id = k.account_id
         WHERE k.key_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
           AND a.deleted_at IS NULL;

-- global: account-key-used
UPDATE account_keys SET last_used_at = now()
         WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute');

-- global: account-limits
SELECT channels_per_half_hour, never_linked_channels FROM accounts WHERE id = $1 AND deleted_at IS NULL;

-- global: account-of-billing-customer
SELECT account_id FROM billing_accounts WHERE stripe_customer_id = $1;

-- global: accounts-due-for-standings
SELECT due.account_id FROM (
           SELECT account_id, dirty_since AS since FROM billing_accounts WHERE dirty_since IS NOT NULL
           UNION ALL
           SELECT account_id, recompute_at FROM billing_accounts WHERE recompute_at <= $1 AND dirty_since IS NULL
         ) due ORDER BY due.since LIMIT $2;

-- global: accounts-of-user
SELECT a.id, a.name, a.created_at, m.role FROM memberships m JOIN accounts a ON a.id = m.account_id
         WHERE m.user_id = $1 AND a.deleted_at IS NULL ORDER BY m.created_at, a.id;

-- global: add-account-key
INSERT INTO account_keys (id, account_id, key_hash, label, scopes, created_by, created_by_key, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, label, scopes, created_at, created_by, created_by_key, expires_at, last_used_at;

-- global: add-billing-account
INSERT INTO billing_accounts (account_id) VALUES ($1) ON CONFLICT (account_id) DO NOTHING;

-- global: add-billing-preview
INSERT INTO billing_previews (id, account_id, quantity, amount, currency, proration_date)
         VALUES ($1, $2, $3, $4, $5, $6);

-- global: add-first-account-key
INSERT INTO account_keys (id, account_id, key_hash, label, scopes) VALUES ($1, $2, $3, $4, $5);

-- global: add-first-owner-link
INSERT INTO user_verifications (id, identifier, value, expires_at)
         VALUES ($1, $1, $2, now() + make_interval(hours => $3)) RETURNING expires_at;

-- global: add-free-number-gift
INSERT INTO free_number_gifts (id, account_id, numbers, reason, granted_by, created_at, ends_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7);

-- global: add-invitation
INSERT INTO invitations (id, account_id, address, role, token_hash, invited_by, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, now() + $7::float8 * interval '1 day') RETURNING id, account_id, address, role, created_at, expires_at;

-- global: add-member
INSERT INTO memberships (account_id, user_id, role) SELECT $1, u.id, $3 FROM users u WHERE u.id = $2 FOR KEY SHARE
         ON CONFLICT (account_id, user_id) DO NOTHING;

-- global: add-password
INSERT INTO user_credentials (id, user_id, provider_id, account_id, password)
         VALUES ($1, $2, 'credential', $2, $3);

-- global: add-stripe-event
INSERT INTO stripe_events (id, type, customer_id, created, handled_at) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (id) DO NOTHING;

-- global: add-user
INSERT INTO users (id, name, email, email_verified) VALUES ($1, $2, $3, true)
         ON CONFLICT (email) DO NOTHING;

-- global: anonymize-audit-actor
UPDATE audit_log SET actor_name = NULL, address = NULL,
           details = (SELECT jsonb_object_agg(key, value) FROM jsonb_each(details) WHERE jsonb_typeof(value) <> 'string')
         WHERE actor_id = $1 AND actor_kind = 'user'
           AND (actor_name IS NOT NULL OR address IS NOT NULL OR details IS NOT NULL);

-- global: anonymize-audit-entries
UPDATE audit_log SET actor_name = NULL, address = NULL,
           details = (SELECT jsonb_object_agg(key, value) FROM jsonb_each(details) WHERE jsonb_typeof(value) <> 'string')
         WHERE account_id = $1 AND (actor_name IS NOT NULL OR address IS NOT NULL OR details IS NOT NULL);

-- global: append-audit-entry
INSERT INTO audit_log (account_id, actor_kind, actor_id, actor_name, action, object_kind, object_id, address,
           request_id, details)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- global: begin-channel
INSERT INTO channels (id, account_id, region, name, unsettled_since) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (id) DO NOTHING RETURNING id, account_id, region, name, created_at;

-- global: begin-channel-deletion
WITH before AS (
           SELECT id, deleted_at IS NULL AS is_first FROM channels WHERE id = $1 AND account_id = $2 FOR UPDATE)
         UPDATE channels c SET deleted_at = coalesce(c.deleted_at, now()), unsettled_since = coalesce(c.unsettled_since, now())
         FROM before b WHERE c.id = b.id AND (c.deleted_at IS NULL) = (c.unsettled_since IS NULL)
         RETURNING c.id, c.account_id, c.region, c.name, c.created_at, b.is_first;

-- global: begin-end-of-account
UPDATE accounts SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL;

-- global: change-user-address
UPDATE users SET email = $3, updated_at = now() WHERE id = $1 AND email = $2 RETURNING name;

-- global: channels-left-of-ended-account
SELECT count(*)::int4 AS channels FROM channels
         WHERE account_id = $1 AND (deleted_at IS NULL OR unsettled_since IS NOT NULL);

-- global: channels-of-ended-account
SELECT id FROM channels WHERE account_id = $1 AND deleted_at IS NULL AND unsettled_since IS NULL LIMIT $2;

-- global: claim-fleet-sample
INSERT INTO fleet_samples (region, minute) VALUES ($1, date_trunc('minute', now()))
         ON CONFLICT (region, minute) DO NOTHING RETURNING minute;

-- global: claim-mail
UPDATE mail_outbox SET attempts = attempts + 1, next_attempt_at = now() + $2 * interval '1 millisecond'
         WHERE id IN (SELECT id FROM mail_outbox WHERE next_attempt_at < now() + interval '1 ms'
                      ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED)
         RETURNING id, reason, kind, data, to_address, to_name, to_user_id, to_account_id, to_audience, attempts,
                   extract(epoch FROM now() - created_at)::float8 * 1000 AS age_ms;

-- global: claim-second-factor-step
UPDATE user_second_factors SET last_step = $2 WHERE user_id = $1 AND (last_step IS NULL OR last_step < $2);

-- global: clear-account-dirty
UPDATE billing_accounts SET dirty_since = NULL, recompute_at = $2 WHERE account_id = $1;

-- global: count-billed-numbers
SELECT
           (SELECT count(*) FROM billed_numbers WHERE account_id = $1 AND ended_at IS NULL)::int AS numbers,
           (SELECT coalesce(sum(numbers), 0) FROM free_number_gifts
            WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2))::int AS given;

-- global: count-created-channels
SELECT (SELECT count(*) FROM channels c WHERE c.account_id = a.id AND c.deleted_at IS NULL)::int4 AS live,
           coalesce(a.channels_per_half_hour, $2) AS per_half_hour,
           (SELECT extract(epoch FROM c.created_at + $3::float8 * interval '1 second' - now())::float8 FROM channels c
            WHERE c.account_id = a.id AND c.created_at > now() - $3::float8 * interval '1 second'
            ORDER BY c.created_at DESC OFFSET greatest(coalesce(a.channels_per_half_hour, $2), 1) - 1 LIMIT 1) AS free_in_s
         FROM accounts a WHERE a.id = $1;

-- global: count-live-channels
SELECT coalesce(a.never_linked_channels, $2) AS most,
           (SELECT count(*) FROM channels c WHERE c.account_id = a.id AND c.deleted_at IS NULL)::int4 AS live
         FROM accounts a WHERE a.id = $1;

-- global: count-other-owners
SELECT count(*)::int4 AS owners FROM memberships WHERE account_id = $1 AND role = 'owner' AND user_id <> $2;

-- global: create-account
INSERT INTO accounts (id, name, channels_per_half_hour, never_linked_channels) VALUES ($1, $2, $3, $4)
         RETURNING id, name, created_at;

-- global: delay-mail
UPDATE mail_outbox SET next_attempt_at = now() + $3 * interval '1 millisecond', last_error = $4
         WHERE id = $1 AND attempts = $2 AND outcome IS NULL;

-- global: delete-ended-user-sessions
DELETE FROM user_sessions WHERE expires_at <= now() AND id IN (
           SELECT id FROM user_sessions WHERE expires_at <= now() LIMIT $1::int4);

-- global: delete-ended-user-verifications
DELETE FROM user_verifications WHERE id IN (SELECT id FROM user_verifications WHERE expires_at <= now() LIMIT $1::int4);

-- global: delete-old-audit-entries
DELETE FROM audit_log WHERE id IN (
           SELECT id FROM audit_log WHERE at < now() - $1::float8 * interval '1 day' ORDER BY at LIMIT $2);

-- global: delete-old-billing-previews
DELETE FROM billing_previews WHERE created_at < now() - interval '2 days';

-- global: delete-old-fleet-samples
DELETE FROM fleet_samples WHERE minute < now() - interval '1 hour';

-- global: delete-old-mail
DELETE FROM mail_outbox WHERE ended_at < now() - $1 * interval '1 millisecond';

-- global: delete-old-stripe-events
DELETE FROM stripe_events WHERE received_at < now() - interval '30 days';

-- global: delete-old-stripe-intents
DELETE FROM stripe_intents WHERE finished_at < now() - interval '90 days';

-- global: delete-standings-of-ended-numbers
DELETE FROM channel_standings s USING billed_numbers n
         WHERE s.account_id = $1 AND n.channel_id = s.channel_id AND n.ended_at IS NOT NULL;

-- global: delete-unconfirmed-users
DELETE FROM users WHERE NOT email_verified AND id IN (
           SELECT u.id FROM users u
           WHERE NOT u.email_verified AND u.created_at < now() - make_interval(days => $1)
             AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id) LIMIT $2::int4);

-- global: divide-mail
WITH divided AS (
           UPDATE mail_outbox SET outcome = 'divided', ended_at = now(), next_attempt_at = NULL, data = '{}'
           FROM (SELECT id, data AS content FROM mail_outbox WHERE id = $1 FOR UPDATE) AS before
           WHERE mail_outbox.id = before.id AND outcome IS NULL
           RETURNING reason, kind, before.content, created_at)
         INSERT INTO mail_outbox (reason, kind, data, to_user_id, created_at)
         SELECT divided.reason || ':' || users.id, divided.kind, divided.content, users.id, divided.created_at
         FROM divided, unnest($2::text[]) AS users (id) ON CONFLICT (reason) DO NOTHING;

-- global: due-billing-turns
SELECT account_id FROM billing_turns
         WHERE due_at < now() + interval '1 ms' AND (held_until IS NULL OR held_until < now()) ORDER BY due_at LIMIT $1;

-- global: end-account-key
WITH RECURSIVE ending AS (
           SELECT id FROM account_keys
           WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND ($3::text IS NULL OR created_by = $3)
           UNION SELECT k.id FROM account_keys k JOIN ending e ON k.created_by_key = e.id WHERE k.account_id = $1)
         UPDATE account_keys SET revoked_at = now() WHERE id IN (SELECT id FROM ending) AND revoked_at IS NULL RETURNING id;

-- global: end-account-keys-beyond
UPDATE account_keys SET revoked_at = now()
         WHERE account_id = $1 AND created_by = $2 AND revoked_at IS NULL AND NOT coalesce(scopes, '{}') <@ $3::text[];

-- global: end-billing-turn
UPDATE billing_turns SET holder = NULL, held_until = NULL,
           failures = CASE WHEN $5::bool THEN failures + 1 ELSE 0 END,
           due_at = CASE WHEN wanted > $3 THEN now() ELSE now() + $4::float8 * interval '1 ms' END
         WHERE account_id = $1 AND holder = $2;

-- global: end-free-number-gifts
UPDATE free_number_gifts SET ends_at = $2 WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2);

-- global: end-mail
UPDATE mail_outbox SET outcome = $2, last_error = $3, ended_at = now(), next_attempt_at = NULL,
                data = '{}', to_address = NULL, to_name = NULL
         WHERE id = $1 AND outcome IS NULL;

-- global: enqueue-mail
INSERT INTO mail_outbox (reason, kind, data, to_address, to_name, to_user_id, to_account_id, to_audience)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (reason) DO NOTHING;

-- global: erase-account
UPDATE accounts SET name = '', erased_at = now() WHERE id = $1;

-- global: erase-account-keys
DELETE FROM account_keys WHERE account_id = $1;

-- global: erase-channel-names
UPDATE channels SET name = '' WHERE account_id = $1;

-- global: erase-invitations
DELETE FROM invitations WHERE account_id = $1;

-- global: erase-members
DELETE FROM memberships WHERE account_id = $1;

-- global: erase-user
DELETE FROM users u WHERE u.id = $1 AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id);

-- global: figures-of-dirty-accounts
SELECT count(*)::int AS dirty FROM billing_accounts WHERE dirty_since IS NOT NULL;

-- global: figures-of-mail
SELECT count(*)::int AS waiting, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_age_s
         FROM mail_outbox WHERE next_attempt_at IS NOT NULL;

-- global: figures-of-standings
SELECT region, count(*)::int AS waiting, extract(epoch FROM now() - min(changed_at))::float8 AS oldest_s
         FROM channel_standings WHERE delivered_version < version GROUP BY region;

-- global: find-account
SELECT id, name, created_at FROM accounts WHERE id = $1 AND deleted_at IS NULL;

-- global: find-billing-account
SELECT account_id, stripe_customer_id, subscription_id, subscription_status, bought, current_period_end,
  cancel_at_period_end, oldest_unpaid_at, buy_limit, facts, fingerprint, declined, stopped_for, refreshed_at,
  coalesce(watched_until > now(), false) AS is_watched FROM billing_accounts WHERE account_id = $1;

-- global: find-billing-preview
SELECT quantity, amount, currency FROM billing_previews
         WHERE id = $1 AND account_id = $2 AND created_at > now() - interval '30 minutes';

-- global: find-first-owner-link
SELECT value FROM user_verifications WHERE identifier = $1 AND expires_at > now();

-- global: find-open-stripe-intent
SELECT id, request, kind, created_at < now() - interval '20 hours' AS is_stale FROM stripe_intents
         WHERE account_id = $1 AND kind = $2 AND finished_at IS NULL;

-- global: find-user-by-address
SELECT id FROM users WHERE email = $1;

-- global: find-user-session
SELECT s.id, s.created_at, s.expires_at, s.proven_at, s.second_factor_at, u.id AS user_id, u.name, u.email, u.two_factor_enabled, u.is_operator
         FROM user_sessions s JOIN users u ON u.id = s.user_id WHERE s.token = $1 AND s.expires_at > now();

-- global: finish-stripe-intent
UPDATE stripe_intents SET finished_at = now(), outcome = $2 WHERE id = $1 AND finished_at IS NULL;

-- global: forget-user-places
DELETE FROM user_places WHERE user_id = $1 AND last_seen_at < now() - make_interval(days => $2);

-- global: gifts-in-effect
SELECT numbers, ends_at FROM free_number_gifts WHERE account_id = $1 AND (ends_at IS NULL OR ends_at > $2);

-- global: give-up-channel
UPDATE channels SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL AND unsettled_since IS NOT NULL;

-- global: has-owner
SELECT user_id FROM memberships WHERE account_id = $1 AND role = 'owner' LIMIT 1;

-- global: is-live-account-key
SELECT id FROM account_keys
         WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- global: is-member-by-address
SELECT u.id FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.account_id = $1 AND u.email = $2;

-- global: left-unsettled-channels
SELECT id, account_id, region, name, created_at FROM channels WHERE region = $1 AND unsettled_since < now() - $2::float8 * interval '1 ms'
         ORDER BY unsettled_since LIMIT $3;

-- global: list-account-keys
SELECT id, label, scopes, created_at, created_by, created_by_key, expires_at, last_used_at FROM account_keys
         WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
           AND ($2::text IS NULL OR created_by = $2)
         ORDER BY created_at DESC, id;

-- global: list-audit-entries
SELECT id, at, account_id, actor_kind, actor_id, actor_name, action, object_kind, object_id, address,
  request_id, details FROM audit_log
         WHERE account_id = $1 AND ($2::int8 IS NULL OR id < $2)
           AND ($3::text IS NULL OR action = $3 OR action LIKE replace(replace($3, '%', '\%'), '_', '\_') || '.%')
           AND ($4::text IS NULL OR actor_id = $4) AND ($5::text IS NULL OR object_id = $5)
           AND ($6::timestamptz IS NULL OR at >= $6) AND ($7::timestamptz IS NULL OR at < $7)
         ORDER BY id DESC LIMIT $8;

-- global: list-fleet-samples
SELECT minute, figures FROM fleet_samples
         WHERE region = $1 AND minute > now() - $2::int * interval '1 minute' AND figures IS NOT NULL;

-- global: list-free-number-gifts
SELECT id, numbers, reason, granted_by, created_at, ends_at FROM free_number_gifts
         WHERE account_id = $1 ORDER BY created_at DESC, ends_at DESC, id DESC LIMIT 100;

-- global: list-invitations
SELECT id, account_id, address, role, created_at, expires_at FROM invitations WHERE account_id = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > now() ORDER BY created_at DESC, id;

-- global: list-members
SELECT u.id, u.name, u.email, u.two_factor_enabled, m.role, m.created_at
         FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.account_id = $1 AND ($2::text IS NULL OR m.user_id = $2) ORDER BY m.created_at, u.id;

-- global: list-open-stripe-intents
SELECT id, request, kind, created_at < now() - interval '20 hours' AS is_stale FROM stripe_intents
         WHERE account_id = $1 AND finished_at IS NULL ORDER BY created_at;

-- global: lock-account
SELECT id, name, created_at FROM accounts WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- global: lock-account-facts
SELECT subscription_status, paused_kind, bought, oldest_unpaid_at, facts_as_of
         FROM billing_accounts WHERE account_id = $1 FOR UPDATE;

-- global: lock-billing-account
SELECT account_id, stripe_customer_id, subscription_id, subscription_status, bought, current_period_end,
  cancel_at_period_end, oldest_unpaid_at, buy_limit, facts, fingerprint, declined, stopped_for, refreshed_at,
  coalesce(watched_until > now(), false) AS is_watched FROM billing_accounts WHERE account_id = $1 FOR UPDATE;

-- global: lock-ended-account
SELECT id FROM accounts WHERE id = $1 AND deleted_at IS NOT NULL AND erased_at IS NULL FOR UPDATE;

-- global: lock-user-of-new-account
SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE;

-- global: make-owner
INSERT INTO memberships (account_id, user_id, role) VALUES ($1, $2, 'owner')
         ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'owner';

-- global: mark-accounts-dirty
INSERT INTO billing_accounts (account_id, dirty_since)
         SELECT DISTINCT given.id, now() FROM unnest($1::text[]) AS given(id) ORDER BY given.id
         ON CONFLICT (account_id) DO UPDATE SET dirty_since = coalesce(billing_accounts.dirty_since, now());

-- global: mark-all-accounts-dirty
UPDATE billing_accounts SET dirty_since = now() WHERE dirty_since IS NULL;

-- global: mark-standings-delivered
UPDATE channel_standings s SET delivered_version = d.version
         FROM unnest($1::text[], $2::int8[]) AS d(id, version)
         WHERE s.channel_id = d.id AND s.delivered_version < d.version;

-- global: numbers-of-account
SELECT n.channel_id, n.region, s.standing FROM billed_numbers n
         LEFT JOIN channel_standings s ON s.channel_id = n.channel_id
         WHERE n.account_id = $1 AND n.ended_at IS NULL ORDER BY n.first_linked_at, n.channel_id;

-- global: open-stripe-intent
INSERT INTO stripe_intents (id, account_id, kind, request) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account_id, kind) WHERE finished_at IS NULL DO NOTHING
         RETURNING id, request, kind, created_at < now() - interval '20 hours' AS is_stale;

-- global: page-of-billed-numbers
SELECT n.channel_id, n.region, n.first_linked_at, s.standing FROM billed_numbers n
         LEFT JOIN channel_standings s ON s.channel_id = n.channel_id
         WHERE n.account_id = $1 AND n.ended_at IS NULL
         ORDER BY n.first_linked_at, n.channel_id LIMIT $2 OFFSET $3;

-- global: regions-of-ended-account
SELECT DISTINCT region FROM channels WHERE account_id = $1 ORDER BY region;

-- global: remove-member
DELETE FROM memberships WHERE account_id = $1 AND user_id = $2;

-- global: rename-account
UPDATE accounts SET name = $2 WHERE id = $1 AND deleted_at IS NULL RETURNING id, name, created_at;

-- global: renew-billing-turn
UPDATE billing_turns SET held_until = now() + $3::float8 * interval '1 ms'
         WHERE account_id = $1 AND holder = $2 AND held_until > now();

-- global: replace-invitations
UPDATE invitations SET withdrawn_at = now() WHERE account_id = $1 AND address = $2 AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > now();

-- global: request-billing-turn
INSERT INTO billing_turns (account_id, wanted, due_at) VALUES ($1, 1, now())
         ON CONFLICT (account_id) DO UPDATE
         SET wanted = billing_turns.wanted + 1, due_at = least(billing_turns.due_at, now());

-- global: request-billing-turns
INSERT INTO billing_turns (account_id, wanted, due_at)
         SELECT account_id, 1, now() FROM billing_accounts
         WHERE account_id = ANY($1::text[]) AND stripe_customer_id IS NOT NULL ORDER BY account_id
         ON CONFLICT (account_id) DO UPDATE
         SET wanted = billing_turns.wanted + 1, due_at = least(billing_turns.due_at, now());

-- global: role-of-member
SELECT role FROM memberships WHERE account_id = $1 AND user_id = $2;

-- global: see-user-place
INSERT INTO user_places (user_id, network) VALUES ($1, $2)
         ON CONFLICT (user_id, network) DO UPDATE SET last_seen_at = now()
         RETURNING (xmax = 0) AS is_new, EXISTS (SELECT 1 FROM user_places p WHERE p.user_id = $1) AS has_others;

-- global: set-account-limits
UPDATE accounts SET channels_per_half_hour = $2, never_linked_channels = $3
         WHERE id = $1 AND deleted_at IS NULL RETURNING channels_per_half_hour, never_linked_channels;

-- global: set-billing-customer
INSERT INTO billing_accounts (account_id, stripe_customer_id) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET stripe_customer_id = $2
         WHERE billing_accounts.stripe_customer_id IS NULL;

-- global: set-billing-facts
UPDATE billing_accounts SET
           subscription_id = $2, subscription_status = $3, paused_kind = $4, bought = $5, current_period_start = $6,
           current_period_end = $7, cancel_at_period_end = $8, oldest_unpaid_at = $9, open_invoice_url = $10,
           facts = $11, fingerprint = $12, declined = $13, stopped_for = $14, refreshed_at = now(),
           facts_as_of = $16,
           dirty_since = CASE WHEN $15::bool THEN coalesce(dirty_since, now()) ELSE dirty_since END
         WHERE account_id = $1;

-- global: set-buy-limit
INSERT INTO billing_accounts (account_id, buy_limit) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET buy_limit = $2, declined = NULL;

-- global: set-declined-purchase
UPDATE billing_accounts SET declined = $2 WHERE account_id = $1;

-- global: set-operator
UPDATE users SET is_operator = $2, updated_at = now() WHERE id = $1;

-- global: set-role
UPDATE memberships SET role = $3 WHERE account_id = $1 AND user_id = $2;

-- global: set-user-password
INSERT INTO user_credentials (id, user_id, provider_id, account_id, password)
         VALUES ($1, $2, 'credential', $2, $3)
         ON CONFLICT (provider_id, account_id) DO UPDATE SET password = excluded.password, updated_at = now();

-- global: settle-channel-creation
UPDATE channels SET unsettled_since = NULL WHERE id = $1 AND deleted_at IS NULL RETURNING id, account_id, region, name, created_at;

-- global: store-billed-numbers
INSERT INTO billed_numbers AS n (channel_id, account_id, region, first_linked_at, ended_at)
         SELECT seen.id, seen.account_id, $1, seen.first_linked_at, seen.ended_at
         FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
           AS seen(id, account_id, first_linked_at, ended_at)
         ORDER BY seen.id
         ON CONFLICT (channel_id) DO UPDATE SET ended_at = excluded.ended_at
           WHERE n.ended_at IS NULL AND excluded.ended_at IS NOT NULL
         RETURNING n.account_id;

-- global: store-channel-standings
INSERT INTO channel_standings AS s (channel_id, account_id, region, standing, version)
         SELECT new.id, $1, new.region, new.standing, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
         FROM unnest($2::text[], $3::text[], $4::text[]) AS new(id, region, standing) ORDER BY new.id
         ON CONFLICT (channel_id) DO UPDATE SET
           standing = excluded.standing, version = greatest(s.version + 1, excluded.version), changed_at = now();

-- global: store-fleet-sample
UPDATE fleet_samples SET figures = $3 WHERE region = $1 AND minute = $2;

-- global: swept-billing-accounts
SELECT a.account_id, a.stripe_customer_id, a.fingerprint, a.buy_limit, a.declined,
           coalesce(a.refreshed_at > $3, false) AS is_fresh,
           (SELECT count(*) FROM billed_numbers n WHERE n.account_id = a.account_id AND n.ended_at IS NULL)::int4 AS numbers,
           (SELECT coalesce(sum(g.numbers), 0) FROM free_number_gifts g
            WHERE g.account_id = a.account_id AND (g.ends_at IS NULL OR g.ends_at > $4))::int4 AS given
         FROM billing_accounts a
         WHERE a.stripe_customer_id IS NOT NULL AND a.account_id > $1 ORDER BY a.account_id LIMIT $2;

-- global: take-billing-rules
INSERT INTO billing_rules AS r (is_on, free_numbers, grace_ms) VALUES ($1, $2, $3)
         ON CONFLICT ("only") DO UPDATE SET is_on = $1, free_numbers = $2, grace_ms = $3
         WHERE (r.is_on, r.free_numbers, r.grace_ms) IS DISTINCT FROM ($1, $2, $3);

-- global: take-billing-turn
UPDATE billing_turns SET holder = $2, held_until = now() + $3::float8 * interval '1 ms'
         WHERE account_id = $1 AND due_at < now() + interval '1 ms' AND (held_until IS NULL OR held_until < now())
         RETURNING wanted, failures;

-- global: time-of-billing-sweep
SELECT now() AS now;

-- global: undelivered-standings
SELECT channel_id, standing, version FROM channel_standings
         WHERE region = $1 AND delivered_version < version ORDER BY changed_at, channel_id LIMIT $2;

-- global: unfinished-ends-of-accounts
SELECT id FROM accounts WHERE deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at LIMIT $1;

-- global: use-first-owner-link
DELETE FROM user_verifications WHERE identifier = $1 AND expires_at > now() RETURNING value;

-- global: users-of-ended-account-alone
SELECT u.id FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.account_id = $1 AND NOT u.is_operator
           AND NOT EXISTS (SELECT 1 FROM memberships other WHERE other.user_id = u.id AND other.account_id <> $1)
         FOR UPDATE OF u;

-- global: watch-billing-account
UPDATE billing_accounts SET watched_until = now() + interval '2 hours' WHERE account_id = $1;

-- global: withdraw-invitation
UPDATE invitations SET withdrawn_at = now() WHERE account_id = $1 AND id = $2 AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > now();

-- regional: add-cursors
INSERT INTO webhook_cursors (channel_id, webhook_id, account_id, position)
         SELECT $1, id, $3, coalesce((SELECT last_seq FROM event_sequences WHERE channel_id = $1), 0)
         FROM unnest($2::text[]) AS id
         ON CONFLICT (channel_id, webhook_id) DO NOTHING;

-- regional: add-data-key
WITH fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE), added AS (
  INSERT INTO channel_keys (channel_id, master_key_id, wrapped_key) SELECT $3, $4, $5 FROM fence
  ON CONFLICT (channel_id) DO NOTHING
)
SELECT count(*)::int AS fenced FROM fence;

-- regional: add-first-webhook-secret
INSERT INTO webhook_secrets (channel_id, secret, key_id)
         SELECT $1, $2, $3 WHERE NOT EXISTS (
           SELECT 1 FROM webhook_secrets WHERE channel_id = $1 AND expires_at IS NULL);

-- regional: add-shards
INSERT INTO shard_leases (shard) SELECT generate_series(0, $1::int - 1);

-- regional: add-wake-latencies
INSERT INTO wake_latencies (minute, worker_id, up_to_ms, wakes, max_ms)
         SELECT to_timestamp(minute / 1000), $1, up_to_ms, wakes, max_ms
         FROM unnest($2::float8[], $3::int[], $4::int[], $5::int[]) AS counted(minute, up_to_ms, wakes, max_ms)
         ON CONFLICT (minute, worker_id, up_to_ms) DO UPDATE SET
           wakes = wake_latencies.wakes + EXCLUDED.wakes, max_ms = greatest(wake_latencies.max_ms, EXCLUDED.max_ms);

-- regional: add-webhook-secret
INSERT INTO webhook_secrets (channel_id, secret, key_id) VALUES ($1, $2, $3);

-- regional: advance-cursor
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, leased_until = clock_timestamp() + $11::float8 * interval '1 ms'
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position, set_config('synchronous_commit', 'off', true) FROM held;

-- regional: advance-cursor-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, leased_until = clock_timestamp() + $11::float8 * interval '1 ms'
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($12::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)
      SELECT count(*)::int AS held, min(position)::text AS position, set_config('synchronous_commit', 'off', true) FROM held;

-- regional: append-events
WITH event AS (
  SELECT e.*, count(*) OVER () AS total FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (id uuid, type text, method text, payload jsonb,
    conversation text, webhook_id text)) WITH ORDINALITY AS e(id, type, method, payload, conversation, webhook_id, nth)
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT $1, max(total) FROM event
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
)
INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT $1, seq.last_seq - event.total + event.nth, event.id, event.type, event.method, event.payload, event.conversation,
  event.webhook_id FROM event, seq) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
RETURNING seq;

-- regional: begin-chat-removal
INSERT INTO chat_removals (channel_id, chat_id, said_until_s, stored_until)
         SELECT $1, $2, $3, max(created_at) FROM messages WHERE channel_id = $1 AND chat_id = $2
         HAVING count(*) > 0;

-- regional: begin-event-sequence
INSERT INTO event_sequences (channel_id) VALUES ($1) ON CONFLICT (channel_id) DO NOTHING;

-- regional: change-message
UPDATE messages SET type = $3, status = $4, content = $5 WHERE channel_id = $1 AND id = $2;

-- regional: channel-by-id
SELECT id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at FROM channels WHERE id = $1;

-- regional: channel-by-token
SELECT id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at FROM channels WHERE token_hash = $1;

-- regional: channel-overviews
SELECT id, shard, standing, coalesce(settings -> 'legacy_status_text' = 'true', false) AS legacy_text, session_state,
           session_reason, session_since, linked, first_linked_at IS NOT NULL AS ever_linked, phone, lid, device_id, push_name,
           sleep_override, wake_at, created_at
         FROM channels WHERE id = ANY ($1) AND deleted_at IS NULL;

-- regional: channel-snapshots
SELECT snapshots FROM channels WHERE id = $1;

-- regional: channels-due-for-billing
SELECT id, account_id, first_linked_at, deleted_at FROM channels
         WHERE billing_due AND first_linked_at IS NOT NULL ORDER BY first_linked_at, id LIMIT $1;

-- regional: channels-of-phone
SELECT id FROM channels
         WHERE account_id = $1 AND deleted_at IS NULL AND position($2 IN phone) > 0 ORDER BY id LIMIT $3;

-- regional: channels-to-tidy
SELECT id, linked FROM channels
         WHERE shard = $1 AND ((NOT linked AND session_state <> 'closed') OR (linked AND deleted_at IS NOT NULL));

-- regional: channels-with-events
SELECT channel_id FROM event_sequences WHERE channel_id > $1 ORDER BY channel_id LIMIT $2;

-- regional: chat-by-id
SELECT chat.id, chat.type, chat.timestamp, chat.unread, chat.pinned, chat.archived, chat.mute_until_ms,
      coalesce(g.facts ->> 'name', chat.name, k.name, k.push_name) AS shown_name, to_jsonb(l) AS last_message,
      coalesce(g.picture, k.picture) AS picture, coalesce(g.picture_full, k.picture_full) AS picture_full
    FROM (SELECT * FROM chats WHERE channel_id = $1 AND id = $2) chat
    LEFT JOIN groups g ON g.channel_id = chat.channel_id AND g.id = chat.id
    LEFT JOIN contacts k ON k.channel_id = chat.channel_id AND k.id = CASE WHEN chat.id LIKE '%@s.whatsapp.net' THEN split_part(chat.id, '@', 1) ELSE chat.id END
    LEFT JOIN LATERAL (SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content,
      coalesce(g.facts ->> 'name', c.name, p.name, p.push_name) AS chat_name, coalesce(a.name, a.push_name) AS contact_name
    FROM (SELECT * FROM messages WHERE channel_id = chat.channel_id AND id = chat.last_message_id) m
    LEFT JOIN groups g ON g.channel_id = m.channel_id AND g.id = m.chat_id
    LEFT JOIN chats c ON c.channel_id = m.channel_id AND c.id = m.chat_id
    LEFT JOIN contacts p ON p.channel_id = m.channel_id AND p.id = CASE WHEN m.chat_id LIKE '%@s.whatsapp.net' THEN split_part(m.chat_id, '@', 1) ELSE m.chat_id END
    LEFT JOIN contacts a ON a.channel_id = m.channel_id AND a.id = m.author) l ON true
    ORDER BY chat.timestamp DESC, chat.id;

-- regional: chat-exists
SELECT id FROM chats WHERE channel_id = $1 AND id = $2;

-- regional: chat-removals
SELECT id, chat_id, said_until_s, stored_until FROM chat_removals WHERE channel_id = $1 ORDER BY id;

-- regional: chat-timer
SELECT ephemeral_s, ephemeral_at FROM chats WHERE channel_id = $1 AND id = $2;

-- regional: chats-by-id
SELECT chat.id, chat.type, chat.timestamp, chat.unread, chat.pinned, chat.archived, chat.mute_until_ms, coalesce(coalesce((SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = chat.channel_id
      AND g.id = chat.id), chat.name, (SELECT k.name FROM contacts k
    WHERE k.channel_id = chat.channel_id AND k.id = CASE WHEN chat.id LIKE '%@s.whatsapp.net' THEN split_part(chat.id, '@', 1) ELSE chat.id END)), (SELECT k.push_name FROM contacts k
    WHERE k.channel_id = chat.channel_id AND k.id = CASE WHEN chat.id LIKE '%@s.whatsapp.net' THEN split_part(chat.id, '@', 1) ELSE chat.id END)) AS shown_name
         FROM chats chat WHERE channel_id = $1 AND id = ANY ($2);

-- regional: chats-of-groups
SELECT chat.id, chat.type, chat.timestamp, chat.unread, chat.pinned, chat.archived, chat.mute_until_ms,
      coalesce(g.facts ->> 'name', chat.name, k.name, k.push_name) AS shown_name, to_jsonb(l) AS last_message,
      coalesce(g.picture, k.picture) AS picture, coalesce(g.picture_full, k.picture_full) AS picture_full
    FROM (SELECT * FROM chats WHERE channel_id = $1 AND id = ANY ($2)) chat
    LEFT JOIN groups g ON g.channel_id = chat.channel_id AND g.id = chat.id
    LEFT JOIN contacts k ON k.channel_id = chat.channel_id AND k.id = CASE WHEN chat.id LIKE '%@s.whatsapp.net' THEN split_part(chat.id, '@', 1) ELSE chat.id END
    LEFT JOIN LATERAL (SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content,
      coalesce(g.facts ->> 'name', c.name, p.name, p.push_name) AS chat_name, coalesce(a.name, a.push_name) AS contact_name
    FROM (SELECT * FROM messages WHERE channel_id = chat.channel_id AND id = chat.last_message_id) m
    LEFT JOIN groups g ON g.channel_id = m.channel_id AND g.id = m.chat_id
    LEFT JOIN chats c ON c.channel_id = m.channel_id AND c.id = m.chat_id
    LEFT JOIN contacts p ON p.channel_id = m.channel_id AND p.id = CASE WHEN m.chat_id LIKE '%@s.whatsapp.net' THEN split_part(m.chat_id, '@', 1) ELSE m.chat_id END
    LEFT JOIN contacts a ON a.channel_id = m.channel_id AND a.id = m.author) l ON true
    ORDER BY chat.timestamp DESC, chat.id;

-- regional: claim-cursors-of
WITH ranked AS (
  SELECT c.channel_id, c.webhook_id, c.account_id, c.turn_at,
    row_number() OVER (PARTITION BY c.account_id ORDER BY c.turn_at) AS nth
  FROM webhook_cursors c JOIN event_sequences s USING (channel_id) WHERE (c.leased_until IS NULL OR c.leased_until <= clock_timestamp()) AND c.channel_id = ANY ($6::text[]) AND ((NOT c.paused AND s.last_seq > c.position) OR c.next_attempt_at <= clock_timestamp())
), chosen AS (
  SELECT * FROM ranked r WHERE nth <= coalesce(($5::jsonb ->> r.account_id)::int, $4::int) ORDER BY turn_at LIMIT $3
), due AS (
  SELECT c.channel_id, c.webhook_id FROM chosen JOIN webhook_cursors c USING (channel_id, webhook_id)
    JOIN event_sequences s USING (channel_id)
  WHERE (c.leased_until IS NULL OR c.leased_until <= clock_timestamp()) AND c.channel_id = ANY ($6::text[]) AND ((NOT c.paused AND s.last_seq > c.position) OR c.next_attempt_at <= clock_timestamp()) FOR UPDATE OF c SKIP LOCKED
)
UPDATE webhook_cursors c SET leased_by = $1, leased_until = clock_timestamp() + $2::float8 * interval '1 ms'
FROM due WHERE c.channel_id = due.channel_id AND c.webhook_id = due.webhook_id
RETURNING c.channel_id, c.webhook_id, c.account_id, c.position, c.attempts, c.refusals, c.last_status, c.last_error,
  c.paused, c.has_held, c.redriving, coalesce(c.next_attempt_at <= clock_timestamp(), false) AS due;

-- regional: claim-fresh-cursors
WITH ranked AS (
  SELECT c.channel_id, c.webhook_id, c.account_id, c.turn_at,
    row_number() OVER (PARTITION BY c.account_id ORDER BY c.turn_at) AS nth
  FROM webhook_cursors c JOIN event_sequences s USING (channel_id) WHERE (c.leased_until IS NULL OR c.leased_until <= clock_timestamp()) AND NOT c.paused AND s.last_seq > c.position
), chosen AS (
  SELECT * FROM ranked r WHERE nth <= coalesce(($5::jsonb ->> r.account_id)::int, $4::int) ORDER BY turn_at LIMIT $3
), due AS (
  SELECT c.channel_id, c.webhook_id FROM chosen JOIN webhook_cursors c USING (channel_id, webhook_id)
    JOIN event_sequences s USING (channel_id)
  WHERE (c.leased_until IS NULL OR c.leased_until <= clock_timestamp()) AND NOT c.paused AND s.last_seq > c.position FOR UPDATE OF c SKIP LOCKED
)
UPDATE webhook_cursors c SET leased_by = $1, leased_until = clock_timestamp() + $2::float8 * interval '1 ms'
FROM due WHERE c.channel_id = due.channel_id AND c.webhook_id = due.webhook_id
RETURNING c.channel_id, c.webhook_id, c.account_id, c.position, c.attempts, c.refusals, c.last_status, c.last_error,
  c.paused, c.has_held, c.redriving, coalesce(c.next_attempt_at <= clock_timestamp(), false) AS due;

-- regional: claim-idempotency-key
INSERT INTO idempotency_keys AS kept (channel_id, key, request) VALUES ($1, $2, $3)
         ON CONFLICT (channel_id, key) DO UPDATE SET request = excluded.request, answer = NULL, created_at = now()
         WHERE kept.created_at < now() - interval '24 hours'
         RETURNING request, answer, created_at;

-- regional: claim-placed-shards
UPDATE shard_leases SET owner_id = $1, epoch = epoch + 1, expires_at = now() + make_interval(secs => $2::float8 / 1000),
  placed_on = CASE WHEN placed_on = $1 THEN placed_on END
WHERE shard IN (
  SELECT shard FROM shard_leases l WHERE (owner_id IS NULL OR expires_at <= now()) AND placed_on = $1
  ORDER BY random() LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING shard, epoch;

-- regional: claim-retries
WITH RECURSIVE accounts AS (
  (SELECT account_id FROM webhook_cursors WHERE next_attempt_at IS NOT NULL ORDER BY account_id LIMIT 1)
  UNION ALL
  SELECT (SELECT c.account_id FROM webhook_cursors c WHERE c.next_attempt_at IS NOT NULL AND c.account_id > a.account_id
          ORDER BY c.account_id LIMIT 1)
  FROM accounts a WHERE a.account_id IS NOT NULL
), chosen AS (
  SELECT first.* FROM accounts r, LATERAL (
    SELECT c.channel_id, c.webhook_id, c.next_attempt_at FROM webhook_cursors c
    WHERE c.account_id = r.account_id AND c.next_attempt_at <= clock_timestamp() AND (c.leased_until IS NULL OR c.leased_until <= clock_timestamp())
    ORDER BY c.next_attempt_at LIMIT least($3::int, coalesce(($5::jsonb ->> r.account_id)::int, $4::int))
  ) first WHERE r.account_id IS NOT NULL ORDER BY first.next_attempt_at LIMIT $3
), due AS (
  SELECT c.channel_id, c.webhook_id FROM chosen JOIN webhook_cursors c USING (channel_id, webhook_id)
  WHERE (c.leased_until IS NULL OR c.leased_until <= clock_timestamp()) AND c.next_attempt_at <= clock_timestamp() FOR UPDATE OF c SKIP LOCKED
)
UPDATE webhook_cursors c SET leased_by = $1, leased_until = clock_timestamp() + $2::float8 * interval '1 ms'
FROM due WHERE c.channel_id = due.channel_id AND c.webhook_id = due.webhook_id
RETURNING c.channel_id, c.webhook_id, c.account_id, c.position, c.attempts, c.refusals, c.last_status, c.last_error,
  c.paused, c.has_held, c.redriving, coalesce(c.next_attempt_at <= clock_timestamp(), false) AS due;

-- regional: claim-shards
UPDATE shard_leases SET owner_id = $1, epoch = epoch + 1, expires_at = now() + make_interval(secs => $2::float8 / 1000),
  placed_on = CASE WHEN placed_on = $1 THEN placed_on END
WHERE shard IN (
  SELECT shard FROM shard_leases l WHERE (owner_id IS NULL OR expires_at <= now()) AND (placed_on IS NULL OR NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = l.placed_on AND w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL))
  ORDER BY random() LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
)
RETURNING shard, epoch;

-- regional: clear-billing-due
UPDATE channels c SET billing_due = false FROM unnest($1::text[], $2::bool[]) AS seen(id, deleted)
         WHERE c.id = seen.id AND c.billing_due AND (c.deleted_at IS NOT NULL) = seen.deleted;

-- regional: clear-chat
WITH left_over AS (
  SELECT id, type, from_me, timestamp FROM messages
  WHERE channel_id = $1 AND chat_id = $2 AND timestamp > $3::bigint
)
UPDATE chats SET
  last_message_id = (SELECT id FROM left_over WHERE type <> 'action' ORDER BY timestamp DESC, id DESC LIMIT 1),
  unread = least(unread, (SELECT count(*)::int FROM left_over WHERE NOT from_me AND left_over.type NOT IN ('action', 'system')))
WHERE channel_id = $1 AND id = $2;

-- regional: closed-channels
SELECT id, account_id, shard, session_state, session_reason, linked, wake_at,
  extract(epoch FROM now() - session_since)::float8 AS for_s, count(*) OVER ()::int AS total FROM channels
         WHERE deleted_at IS NULL AND session_state = 'closed' AND linked AND session_reason IS NOT NULL
         ORDER BY session_since, id LIMIT $1;

-- regional: contact-by-id
SELECT id, name, push_name, business, about, picture, picture_full FROM contacts WHERE channel_id = $1 AND id = $2;

-- regional: contact-of-lid
SELECT id FROM contacts WHERE channel_id = $1 AND lid = $2 AND id <> $3 LIMIT 1;

-- regional: contact-pictures
UPDATE contacts SET 
  picture = coalesce($3, picture), picture_full = coalesce($4, picture_full), pictures_asked_at = now()
WHERE channel_id = $1 AND id = regexp_replace($2, '@s\.whatsapp\.net$', '');

-- regional: contacts-by-id
SELECT id, name, push_name, business, about, picture, picture_full FROM contacts WHERE channel_id = $1 AND id = ANY ($2);

-- regional: count-dead-letters
SELECT count(*) AS total FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2;

-- regional: count-groups
SELECT count(*) AS total FROM groups WHERE channel_id = $1 AND member;

-- regional: count-never-linked-channels
SELECT count(*)::int4 AS channels FROM channels
         WHERE account_id = $1 AND deleted_at IS NULL AND first_linked_at IS NULL;

-- regional: count-rows
SELECT rows AS total FROM row_counts WHERE channel_id = $1 AND kind = $2 AND chat_id = '';

-- regional: count-shards
SELECT count(*)::int AS shards FROM shard_leases;

-- regional: create-channel
INSERT INTO channels (id, account_id, name, token_hash, shard) VALUES ($1, $2, $3, $4, $5)
         RETURNING id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at;

-- regional: damaged-snapshots
SELECT id, shard, session_reason IS NOT DISTINCT FROM 'state_unreadable' AS lost, count(*) OVER ()::int AS total,
                ARRAY(SELECT (one->>'generation')::int FROM jsonb_array_elements(snapshots) AS one
                      WHERE one @> '{"damaged": true}') AS generations
         FROM channels
         WHERE deleted_at IS NULL AND (
           (session_state = 'closed' AND session_reason = 'state_unreadable')
           OR (session_state = ANY ($1) AND snapshots @> '[{"damaged": true}]'))
         ORDER BY lost DESC, session_since, id LIMIT $2;

-- regional: dead-letter-delivered
WITH held AS (DELETE FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2 AND seq = $3 RETURNING 1),
         logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)) SELECT 1 AS done;

-- regional: dead-letter-failed
WITH held AS (
           UPDATE dead_letters SET redrive_at = NULL, attempts = $5, last_status = $6, last_error = $7
           WHERE channel_id = $1 AND webhook_id = $2 AND seq = $3 RETURNING 1
         ), others AS (
           UPDATE dead_letters SET redrive_at = NULL
           WHERE $8::bool AND channel_id = $1 AND webhook_id = $2 AND seq <> $3 AND redrive_at IS NOT NULL
         ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)) SELECT 1 AS done;

-- regional: dead-letters
SELECT e.id, e.seq, e.type, e.method, e.payload, e.created_at,
           extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
           d.died_at, d.attempts, d.last_status, d.last_error, d.redrive_at
         FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
         WHERE d.channel_id = $1 AND d.webhook_id = $2 ORDER BY d.seq LIMIT $3 OFFSET $4;

-- regional: delete-attempts
WITH oldest AS (SELECT id, at FROM webhook_attempts ORDER BY id LIMIT $2)
DELETE FROM webhook_attempts USING oldest
WHERE webhook_attempts.id = oldest.id AND oldest.at < now() - $1::float8 * interval '1 ms';

-- regional: delete-chat
DELETE FROM chats WHERE channel_id = $1 AND id = $2;

-- regional: delete-dead-letters
DELETE FROM dead_letters WHERE (channel_id, webhook_id, seq) IN (
  SELECT channel_id, webhook_id, seq FROM dead_letters WHERE died_at < now() - $1::float8 * interval '1 ms' LIMIT $2);

-- regional: delete-dead-letters-from
DELETE FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2 AND seq >= $3;

-- regional: delete-dead_letters-of-channel
DELETE FROM dead_letters WHERE channel_id = $1;

-- regional: delete-ended-webhook-secrets
DELETE FROM webhook_secrets w USING (
           SELECT id, expires_at, row_number() OVER (ORDER BY created_at DESC) AS place
           FROM webhook_secrets WHERE channel_id = $1) ranked
         WHERE w.id = ranked.id AND (place > $2 OR ranked.expires_at <= now());

-- regional: delete-events
WITH bound AS (
  SELECT least((SELECT min(position) FROM webhook_cursors WHERE channel_id = $1), 9223372036854775807) AS passed
), oldest AS (
  SELECT e.seq, e.created_at FROM events e, bound
  WHERE e.channel_id = $1 AND e.seq <= bound.passed
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.channel_id = $1 AND d.seq = e.seq)
    AND NOT EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.seq = e.seq)
  ORDER BY e.seq LIMIT $3
)
DELETE FROM events USING oldest
WHERE events.channel_id = $1 AND events.seq = oldest.seq
  AND oldest.created_at < now() - $2::float8 * interval '1 ms';

-- regional: delete-held-events-from
DELETE FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2 AND seq >= $3;

-- regional: delete-old-wake-latencies
DELETE FROM wake_latencies WHERE minute < now() - interval '1 hour';

-- regional: delete-other-cursors
DELETE FROM webhook_cursors WHERE channel_id = $1 AND webhook_id <> ALL ($2::text[]);

-- regional: delete-other-held-events
DELETE FROM webhook_held_events WHERE channel_id = $1 AND webhook_id <> ALL ($2::text[]);

-- regional: delete-webhook-secrets
DELETE FROM webhook_secrets WHERE channel_id = $1;

-- regional: delete-webhook_attempts-of-channel
DELETE FROM webhook_attempts WHERE channel_id = $1;

-- regional: delete-webhook_cursors-of-channel
DELETE FROM webhook_cursors WHERE channel_id = $1;

-- regional: delete-webhook_held_events-of-channel
DELETE FROM webhook_held_events WHERE channel_id = $1;

-- regional: delete-worker
DELETE FROM workers WHERE id = $1 OR expires_at < now() - interval '1 hour';

-- regional: drop-creds
DELETE FROM auth_creds WHERE channel_id = $1 RETURNING sealed;

-- regional: drop-data-key
DELETE FROM channel_keys WHERE channel_id = $1;

-- regional: drop-keys
DELETE FROM auth_keys WHERE channel_id = $1 RETURNING type, id, sealed;

-- regional: due-held-event
SELECT h.seq, h.conversation AS held_in, h.attempts, h.set_aside_at IS NOT NULL AS set_aside,
  coalesce(extract(epoch FROM clock_timestamp() - h.first_failed_at), 0)::float8 * 1000 AS failing_for_ms,
  coalesce(c.accepted_at > h.first_failed_at, false) AS alive_since,
  e.id, e.type, e.method, e.payload, e.conversation, e.webhook_id,
  extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
  extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
FROM webhook_held_events h JOIN webhook_cursors c USING (channel_id, webhook_id)
  LEFT JOIN events e ON e.channel_id = h.channel_id AND e.seq = h.seq
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.next_attempt_at <= clock_timestamp() ORDER BY h.set_aside_at IS NOT NULL, h.seq LIMIT 1;

-- regional: due-to-wake
SELECT id FROM channels WHERE shard = ANY($1) AND wake_at <= now() AND session_state = 'hibernated'
           AND linked AND deleted_at IS NULL ORDER BY wake_at LIMIT $2;

-- regional: earliest-held-event
SELECT h.seq, h.conversation AS held_in, h.attempts, h.set_aside_at IS NOT NULL AS set_aside,
  coalesce(extract(epoch FROM clock_timestamp() - h.first_failed_at), 0)::float8 * 1000 AS failing_for_ms,
  coalesce(c.accepted_at > h.first_failed_at, false) AS alive_since,
  e.id, e.type, e.method, e.payload, e.conversation, e.webhook_id,
  extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
  extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
FROM webhook_held_events h JOIN webhook_cursors c USING (channel_id, webhook_id)
  LEFT JOIN events e ON e.channel_id = h.channel_id AND e.seq = h.seq
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.next_attempt_at IS NOT NULL ORDER BY h.next_attempt_at, h.seq LIMIT 1;

-- regional: early-reports
SELECT key_id, viewer_id, status, timestamp, errors FROM receipts
         WHERE channel_id = $1 AND key_id = ANY ($2) AND status NOT IN ('pending', 'deleted')
         ORDER BY coalesce(array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], status), 0), timestamp;

-- regional: end-chat-removal
DELETE FROM chat_removals WHERE channel_id = $1 AND id = $2;

-- regional: end-placement
UPDATE shard_leases SET placed_on = NULL WHERE shard = $1;

-- regional: end-placements-on
UPDATE shard_leases SET placed_on = NULL WHERE placed_on = $1;

-- regional: erase-deleted-channels
UPDATE channels SET name = '', settings = '{}', settings_key_id = NULL, phone = NULL, lid = NULL, device_id = NULL,
           push_name = NULL
         WHERE account_id = $1 AND deleted_at IS NOT NULL;

-- regional: events-to-dead-letters
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = (SELECT greatest($10::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $10
    AND created_at < now() - $12::float8 * interval '1 ms')
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), died AS (
    INSERT INTO dead_letters AS d (channel_id, webhook_id, seq, attempts, last_status, last_error)
    SELECT $1, $2, e.seq, CASE WHEN e.seq = $10 THEN 1 ELSE 0 END, $7, $8 FROM held, events e
    WHERE e.channel_id = $1 AND e.seq > $11 AND e.seq <= (SELECT greatest($10::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $10
    AND created_at < now() - $12::float8 * interval '1 ms') AND (e.webhook_id = $2
    OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($13::text[])))
    ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
      last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
  )
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: events-to-dead-letters-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = (SELECT greatest($10::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $10
    AND created_at < now() - $12::float8 * interval '1 ms')
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($14::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
), died AS (
    INSERT INTO dead_letters AS d (channel_id, webhook_id, seq, attempts, last_status, last_error)
    SELECT $1, $2, e.seq, CASE WHEN e.seq = $10 THEN 1 ELSE 0 END, $7, $8 FROM held, events e
    WHERE e.channel_id = $1 AND e.seq > $11 AND e.seq <= (SELECT greatest($10::bigint, max(seq)) FROM events WHERE channel_id = $1 AND seq > $10
    AND created_at < now() - $12::float8 * interval '1 ms') AND (e.webhook_id = $2
    OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($13::text[])))
    ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
      last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
  )
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: expire-webhook-secrets
UPDATE webhook_secrets SET expires_at = least(expires_at, now() + $2::float8 * interval '1 ms')
         WHERE channel_id = $1 AND (expires_at IS NULL OR $2::float8 = 0);

-- regional: failing-webhooks
SELECT c.channel_id, c.webhook_id, c.attempts, s.last_seq - c.position + held.events AS backlog, c.last_error,
                extract(epoch FROM now() - oldest.created_at)::float8 AS oldest_age_s, count(*) OVER ()::int AS total
         FROM webhook_cursors c JOIN event_sequences s USING (channel_id), LATERAL (
  SELECT count(*) AS events, min(seq) AS first FROM webhook_held_events h
  WHERE c.has_held AND h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id) AS held LEFT JOIN LATERAL (
  SELECT created_at FROM events e WHERE e.channel_id = c.channel_id
    AND (e.seq > c.position OR e.seq = held.first) ORDER BY e.seq LIMIT 1) AS oldest ON true
         WHERE c.attempts > 0 ORDER BY oldest.created_at, c.channel_id LIMIT $1;

-- regional: fall-asleep
UPDATE channels SET snapshots = $2, wake_at = $3, session_state = 'hibernated', session_reason = NULL,
           session_since = now() WHERE id = $1;

-- regional: figures-of-events
SELECT coalesce(sum(s.last_seq - c.position + held.events), 0) AS backlog, count(*)::int AS behind,
                coalesce(extract(epoch FROM now() - min(oldest.created_at)), 0)::float8 AS oldest_age_s,
                (SELECT count(*)::int FROM dead_letters) AS dead
         FROM webhook_cursors c JOIN event_sequences s USING (channel_id), LATERAL (
  SELECT count(*) AS events, min(seq) AS first FROM webhook_held_events h
  WHERE c.has_held AND h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id) AS held LEFT JOIN LATERAL (
  SELECT created_at FROM events e WHERE e.channel_id = c.channel_id
    AND (e.seq > c.position OR e.seq = held.first) ORDER BY e.seq LIMIT 1) AS oldest ON true
         WHERE s.last_seq > c.position OR held.events > 0;

-- regional: figures-of-overdue-wakes
SELECT count(*)::int AS overdue, coalesce(max(late_s), 0)::float8 AS most_overdue_s
         FROM unnest($1::int[]) AS of(shard), LATERAL (
           SELECT extract(epoch FROM now() - wake_at) AS late_s FROM channels c
           WHERE c.shard = of.shard AND wake_at < now() - $2::int * interval '1 second'
             AND session_state = 'hibernated' AND linked AND deleted_at IS NULL) AS late;

-- regional: figures-of-owners
SELECT (SELECT count(*)::int FROM workers WHERE expires_at > now()) AS living,
                (SELECT count(*)::int FROM workers
                 WHERE expires_at > now() AND (draining OR drained_at IS NOT NULL)) AS draining,
                count(*)::int AS total,
                (count(*) FILTER (WHERE owner_id IS NULL OR expires_at <= now()))::int AS without_owner
         FROM shard_leases;

-- regional: figures-of-sessions
SELECT session_state AS state, count(*)::int AS count FROM channels
         WHERE deleted_at IS NULL GROUP BY session_state;

-- regional: figures-of-wakes
SELECT up_to_ms, sum(wakes)::int AS wakes, max(max_ms)::int AS max_ms FROM wake_latencies
         WHERE minute > now() - $1::int * interval '1 second' GROUP BY up_to_ms ORDER BY up_to_ms;

-- regional: find-idempotency-key
SELECT request, answer, created_at FROM idempotency_keys WHERE channel_id = $1 AND key = $2;

-- regional: finish-cursor
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp()) END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: finish-cursor-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp()) END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($11::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: finish-cursor-with-held
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp())
    ELSE (SELECT coalesce(min(h.next_attempt_at), clock_timestamp()) FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2 HAVING count(*) > 0) END,
  has_held = EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2)
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: finish-cursor-with-held-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp())
    ELSE (SELECT coalesce(min(h.next_attempt_at), clock_timestamp()) FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2 HAVING count(*) > 0) END,
  has_held = EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2)
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($11::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: first-event-since
SELECT min(e.seq) AS first, count(*) AS events FROM events e
         WHERE e.channel_id = $1 AND (e.webhook_id = $2
    OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($3::text[]))) AND e.created_at >= to_timestamp($4::float8);

-- regional: fleet
WITH takers AS (SELECT id FROM workers w WHERE w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL)
         SELECT ARRAY(SELECT id FROM takers ORDER BY id) AS workers,
                (SELECT count(*)::int FROM shard_leases) AS shards,
                coalesce((SELECT json_agg(json_build_array(shard, placed_on)) FROM shard_leases
                          WHERE placed_on IN (SELECT id FROM takers)), '[]') AS placed;

-- regional: fleet-channel
SELECT id, account_id, shard, session_state, session_reason, linked, wake_at,
  extract(epoch FROM now() - session_since)::float8 AS for_s FROM channels WHERE id = $1 AND deleted_at IS NULL;

-- regional: fleet-channels
SELECT id, account_id, shard, session_state, session_reason, linked, wake_at,
  extract(epoch FROM now() - session_since)::float8 AS for_s FROM channels
         WHERE deleted_at IS NULL AND session_state = $1 AND (shard, id) > ($2::int, $3)
         ORDER BY shard, id LIMIT $4;

-- regional: fleet-channels-total
SELECT count(*)::int AS total FROM channels WHERE deleted_at IS NULL AND session_state = $1;

-- regional: fleet-sessions-by-shard
SELECT shard, session_state AS state, count(*)::int AS count FROM channels
         WHERE deleted_at IS NULL AND session_state = ANY ($1) AND ($2::int IS NULL OR shard = $2)
         GROUP BY shard, session_state;

-- regional: fleet-shards
SELECT l.shard, l.epoch, CASE WHEN l.expires_at > now() THEN l.owner_id END AS owner_id,
                coalesce(greatest(0, extract(epoch FROM l.expires_at - now())), 0)::float8 AS lease_left_s,
                (SELECT w.id FROM workers w WHERE w.id = l.placed_on AND w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL) AS placed_on,
                EXISTS (SELECT 1 FROM workers w WHERE w.id = l.owner_id AND NOT (w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL)) AS leaving
         FROM shard_leases l WHERE $1::int IS NULL OR l.shard = $1 ORDER BY l.shard;

-- regional: fleet-workers
SELECT id, version, started_at, draining, drained_at, expires_at > now() AS living,
                extract(epoch FROM now() - heartbeat_at)::float8 AS heartbeat_age_s,
                ARRAY(SELECT shard FROM shard_leases
                      WHERE owner_id = workers.id AND expires_at > now() ORDER BY shard) AS shards
         FROM workers WHERE $1::text IS NULL OR id = $1 ORDER BY id;

-- regional: forget-chat-states
UPDATE chats SET pinned = false, archived = false, mute_until_ms = 0
         WHERE channel_id = $1 AND (pinned OR archived OR mute_until_ms <> 0);

-- regional: forget-sleep
UPDATE channels SET snapshots = '[]', wake_at = NULL WHERE id = $1;

-- regional: group-by-id
SELECT id, facts, members FROM groups WHERE channel_id = $1 AND id = $2 AND member;

-- regional: group-pictures
UPDATE groups SET 
  picture = coalesce($3, picture), picture_full = coalesce($4, picture_full), pictures_asked_at = now()
WHERE channel_id = $1 AND id = $2;

-- regional: group-sync
SELECT synced_at FROM group_syncs WHERE channel_id = $1 AND device = $2;

-- regional: group-versions
SELECT id, version FROM groups WHERE channel_id = $1;

-- regional: groups-by-id
SELECT id, member, stale, version, facts, members FROM groups WHERE channel_id = $1 AND id = ANY ($2);

-- regional: heartbeat
INSERT INTO workers (id, expires_at, draining, version) VALUES ($1, now() + make_interval(secs => $2::float8 / 1000), $3, $4)
ON CONFLICT (id) DO UPDATE SET expires_at = EXCLUDED.expires_at, heartbeat_at = now(), draining = EXCLUDED.draining;

-- regional: held-conversation-goes-on
WITH first AS (
SELECT DISTINCT ON (h.conversation) h.conversation, h.seq, h.next_attempt_at FROM webhook_held_events h
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.set_aside_at IS NULL AND ($3::text IS NULL OR h.conversation = $3)
ORDER BY h.conversation, h.seq)
         UPDATE webhook_held_events h SET next_attempt_at = coalesce(h.next_attempt_at, clock_timestamp())
         FROM first WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.seq = first.seq;

-- regional: held-conversations
SELECT DISTINCT ON (h.conversation) h.conversation, h.seq, h.next_attempt_at FROM webhook_held_events h
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.set_aside_at IS NULL AND ($3::text IS NULL OR h.conversation = $3)
ORDER BY h.conversation, h.seq;

-- regional: held-event-failed
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), failed AS (
    UPDATE webhook_held_events h SET attempts = $13, last_status = $7, last_error = $8,
      next_attempt_at = clock_timestamp() + $11::float8 * interval '1 ms',
      first_failed_at = coalesce(h.first_failed_at, clock_timestamp()),
      set_aside_at = CASE WHEN $12::bool THEN coalesce(h.set_aside_at, clock_timestamp()) END
    FROM held WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.seq = $10
  )
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: held-event-for-trial
SELECT h.seq, h.conversation AS held_in, h.attempts, h.set_aside_at IS NOT NULL AS set_aside,
  coalesce(extract(epoch FROM clock_timestamp() - h.first_failed_at), 0)::float8 * 1000 AS failing_for_ms,
  coalesce(c.accepted_at > h.first_failed_at, false) AS alive_since,
  e.id, e.type, e.method, e.payload, e.conversation, e.webhook_id,
  extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
  extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
FROM webhook_held_events h JOIN webhook_cursors c USING (channel_id, webhook_id)
  LEFT JOIN events e ON e.channel_id = h.channel_id AND e.seq = h.seq
WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.next_attempt_at IS NOT NULL ORDER BY h.set_aside_at IS NOT NULL, h.attempts, h.seq LIMIT 1;

-- regional: held-event-left
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), gone AS (DELETE FROM webhook_held_events h USING held WHERE h.channel_id = $1 AND h.webhook_id = $2 AND h.seq = $10)
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: held-events-due
UPDATE webhook_held_events SET next_attempt_at = clock_timestamp()
         WHERE channel_id = $1 AND webhook_id = $2 AND next_attempt_at > clock_timestamp() AND set_aside_at IS NULL
           AND seq <> ALL ($3::bigint[]);

-- regional: held-events-to-dead-letters
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), gone AS (
    DELETE FROM webhook_held_events h USING held, events e
    WHERE h.channel_id = $1 AND h.webhook_id = $2 AND e.channel_id = h.channel_id AND e.seq = h.seq
      AND (h.seq = $10 OR e.created_at < now() - $11::float8 * interval '1 ms') RETURNING h.seq, h.attempts
  ), died AS (
    INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts, last_status, last_error)
    SELECT $1, $2, g.seq, g.attempts + CASE WHEN g.seq = $10 THEN 1 ELSE 0 END, $7, $8 FROM gone g
    ON CONFLICT (channel_id, webhook_id, seq) DO UPDATE SET died_at = now(), attempts = excluded.attempts,
      last_status = excluded.last_status, last_error = excluded.last_error, redrive_at = NULL
  )
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: hold-event
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, has_held = true,
    next_attempt_at = least(next_attempt_at, clock_timestamp() + $12::float8 * interval '1 ms')
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), holding AS (
    INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, attempts, next_attempt_at,
      first_failed_at, last_status, last_error)
    SELECT $1, $2, $10, $11, 1, clock_timestamp() + $12::float8 * interval '1 ms', clock_timestamp(), $7, $8 FROM held
  )
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: hold-event-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, has_held = true,
    next_attempt_at = least(next_attempt_at, clock_timestamp() + $12::float8 * interval '1 ms')
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($13::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
), holding AS (
    INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, attempts, next_attempt_at,
      first_failed_at, last_status, last_error)
    SELECT $1, $2, $10, $11, 1, clock_timestamp() + $12::float8 * interval '1 ms', clock_timestamp(), $7, $8 FROM held
  )
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: hold-fence
SELECT 1 AS held FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE;

-- regional: keep-answer
UPDATE idempotency_keys SET answer = coalesce(answer, $3::jsonb)
         WHERE channel_id = $1 AND key = $2 RETURNING answer;

-- regional: keys-to-seal
SELECT type, id, sealed FROM auth_keys WHERE channel_id = $1 ORDER BY type, id;

-- regional: last-moments-all
SELECT key_id, key_remote, key_participant, from_me, timestamp FROM messages
           WHERE channel_id = $1 AND chat_id = $2 AND messages.type NOT IN ('action', 'system') 
           ORDER BY timestamp DESC, id DESC LIMIT $3;

-- regional: last-moments-others
SELECT key_id, key_remote, key_participant, from_me, timestamp FROM messages
           WHERE channel_id = $1 AND chat_id = $2 AND messages.type NOT IN ('action', 'system') AND NOT from_me
           ORDER BY timestamp DESC, id DESC LIMIT $3;

-- regional: lid-shown
SELECT EXISTS (SELECT FROM chats WHERE channel_id = $1 AND id = $2)
               OR EXISTS (SELECT FROM contacts WHERE channel_id = $1 AND id = $2)
               OR EXISTS (SELECT FROM messages WHERE channel_id = $1 AND author = $2)
               OR EXISTS (SELECT FROM groups WHERE channel_id = $1 AND position($3 in members::text) > 0)
               OR EXISTS (SELECT FROM receipts WHERE channel_id = $1 AND viewer_id = $2 AND viewer_id LIKE '%@lid')
               OR EXISTS (SELECT FROM messages WHERE channel_id = $1 AND content::text LIKE '%@lid"%'
                 AND position('"' || $2 || '"' in content::text) > 0) AS shown;

-- regional: linked-awake-channels
SELECT id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at FROM channels
         WHERE shard = $1 AND linked AND deleted_at IS NULL AND session_state <> 'hibernated' ORDER BY id;

-- regional: list-chats
SELECT chat.id, chat.type, chat.timestamp, chat.unread, chat.pinned, chat.archived, chat.mute_until_ms,
      coalesce(g.facts ->> 'name', chat.name, k.name, k.push_name) AS shown_name, to_jsonb(l) AS last_message,
      coalesce(g.picture, k.picture) AS picture, coalesce(g.picture_full, k.picture_full) AS picture_full
    FROM (SELECT * FROM chats WHERE channel_id = $1 ORDER BY timestamp DESC, id LIMIT $2 OFFSET $3) chat
    LEFT JOIN groups g ON g.channel_id = chat.channel_id AND g.id = chat.id
    LEFT JOIN contacts k ON k.channel_id = chat.channel_id AND k.id = CASE WHEN chat.id LIKE '%@s.whatsapp.net' THEN split_part(chat.id, '@', 1) ELSE chat.id END
    LEFT JOIN LATERAL (SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content,
      coalesce(g.facts ->> 'name', c.name, p.name, p.push_name) AS chat_name, coalesce(a.name, a.push_name) AS contact_name
    FROM (SELECT * FROM messages WHERE channel_id = chat.channel_id AND id = chat.last_message_id) m
    LEFT JOIN groups g ON g.channel_id = m.channel_id AND g.id = m.chat_id
    LEFT JOIN chats c ON c.channel_id = m.channel_id AND c.id = m.chat_id
    LEFT JOIN contacts p ON p.channel_id = m.channel_id AND p.id = CASE WHEN m.chat_id LIKE '%@s.whatsapp.net' THEN split_part(m.chat_id, '@', 1) ELSE m.chat_id END
    LEFT JOIN contacts a ON a.channel_id = m.channel_id AND a.id = m.author) l ON true
    ORDER BY chat.timestamp DESC, chat.id;

-- regional: list-contacts
SELECT id, name, push_name, business, about, picture, picture_full FROM contacts WHERE channel_id = $1 ORDER BY id LIMIT $2 OFFSET $3;

-- regional: list-groups
SELECT g.id, g.facts, g.members FROM groups g
         LEFT JOIN chats c ON c.channel_id = g.channel_id AND c.id = g.id
         WHERE g.channel_id = $1 AND g.member ORDER BY coalesce(c.timestamp, 0) DESC, g.id LIMIT $2 OFFSET $3;

-- regional: lock-channel
SELECT id, account_id, name, shard, standing, settings, session_state, session_reason,
  session_since, linked, phone, lid, device_id, push_name, sleep_override, created_at,
  deleted_at FROM channels WHERE id = $1 FOR NO KEY UPDATE;

-- regional: lock-channel-for-secret
SELECT id FROM channels WHERE id = $1 FOR NO KEY UPDATE;

-- regional: lock-cursor
SELECT position FROM webhook_cursors WHERE channel_id = $1 AND webhook_id = $2 FOR UPDATE;

-- regional: lock-event-sequence
SELECT 1 AS locked FROM event_sequences WHERE channel_id = $1 FOR UPDATE;

-- regional: lock-settings
SELECT settings, account_id FROM channels WHERE id = $1 AND deleted_at IS NULL FOR UPDATE;

-- regional: lock-shards
LOCK TABLE shard_leases IN SHARE ROW EXCLUSIVE MODE;

-- regional: lock-snapshots
SELECT snapshots FROM channels WHERE id = $1 FOR UPDATE;

-- regional: lock-webhook-secrets
SELECT id FROM webhook_secrets WHERE channel_id = $1 FOR UPDATE;

-- regional: mark-channel-deleted
UPDATE channels SET deleted_at = now(), token_hash = NULL, billing_due = first_linked_at IS NOT NULL
         WHERE id = $1 AND deleted_at IS NULL;

-- regional: mark-groups-synced
INSERT INTO group_syncs (channel_id, device) VALUES ($1, $2)
ON CONFLICT (channel_id) DO UPDATE SET device = excluded.device, synced_at = now();

-- regional: mark-redriving
UPDATE webhook_cursors SET redriving = true, next_attempt_at = now()
         WHERE channel_id = $1 AND webhook_id = $2;

-- regional: media-begin-object
WITH used AS (
             INSERT INTO media_usage AS known (channel_id, bytes) VALUES ($2, 0)
             ON CONFLICT (channel_id) DO UPDATE SET bytes = known.bytes RETURNING bytes)
           INSERT INTO media_objects (key, channel_id, sha256, size, created_at)
           SELECT $1, $2, $3, $4::bigint, $5 FROM used WHERE used.bytes + $4::bigint <= $6::bigint;

-- regional: media-copy
SELECT direct_path, url, media_key, file_sha256, file_enc_sha256, file_length, prepared, uploaded_at
             FROM media_network_copies WHERE object_key = $1 AND variant = $2;

-- regional: media-count
SELECT count(*) AS total FROM media_files f JOIN media_objects o ON o.key = f.object_key WHERE f.channel_id = $1 AND f.origin = 'uploaded' AND f.expires_at > $2
  AND f.created_at >= $3 AND ($4::timestamptz IS NULL OR f.created_at < $4);

-- regional: media-delete-file
DELETE FROM media_files WHERE channel_id = $1 AND id = $2 AND object_key = $3;

-- regional: media-delete-for-good
UPDATE media_files SET object_key = NULL, file_name = NULL, expires_at = $4
                 WHERE channel_id = $1 AND id = $2 AND object_key = $3;

-- regional: media-doom
UPDATE media_objects o SET doomed_at = $2
           WHERE key = ANY($1) AND doomed_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM media_files f WHERE f.object_key = o.key)
           RETURNING key;

-- regional: media-doom-abandoned
UPDATE media_objects SET doomed_at = $1
           WHERE doomed_at IS NULL AND stored_at IS NULL AND created_at < $2;

-- regional: media-doomed
SELECT key FROM media_objects WHERE doomed_at <= $2 ORDER BY doomed_at LIMIT $1;

-- regional: media-end-files
UPDATE media_files SET expires_at = $3
             WHERE channel_id = $1 AND id = ANY ($2) AND object_key IS NOT NULL AND expires_at > $3;

-- regional: media-end-object
UPDATE media_objects SET stored_at = $2, doomed_at = $3 WHERE key = $1 AND doomed_at IS NULL;

-- regional: media-expire
DELETE FROM media_files WHERE object_key = ANY($1) AND expires_at <= $2;

-- regional: media-file
SELECT f.id, f.origin, o.key AS object_key, f.mime_type, f.file_name, o.size, o.sha256, f.created_at, f.expires_at FROM media_files f JOIN media_objects o ON o.key = f.object_key WHERE f.channel_id = $1 AND f.id = $2 AND f.expires_at > $3;

-- regional: media-file-before
SELECT object_key FROM media_files WHERE channel_id = $1 AND id = $2 FOR UPDATE;

-- regional: media-files-by-id
SELECT f.id, f.origin, o.key AS object_key, f.mime_type, f.file_name, o.size, o.sha256, f.created_at, f.expires_at FROM media_files f JOIN media_objects o ON o.key = f.object_key WHERE f.channel_id = $1 AND f.id = ANY($2) AND f.expires_at > $3;

-- regional: media-find-file
SELECT object_key FROM media_files WHERE channel_id = $1 AND id = $2 AND expires_at > $3;

-- regional: media-forget-channel
DELETE FROM media_files WHERE channel_id = $1 AND (object_key = ANY($2) OR object_key IS NULL);

-- regional: media-forget-copy
DELETE FROM media_network_copies WHERE object_key = $1 AND variant = $2;

-- regional: media-forget-deleted
DELETE FROM media_files WHERE object_key IS NULL AND expires_at <= $1;

-- regional: media-forget-objects
DELETE FROM media_objects WHERE key = ANY($1) AND doomed_at IS NOT NULL;

-- regional: media-give-up-object
UPDATE media_objects SET doomed_at = $2 WHERE key = $1 AND doomed_at IS NULL;

-- regional: media-hold-expired
SELECT key FROM media_objects WHERE key IN (
               SELECT object_key FROM media_files
               WHERE expires_at <= $1 AND object_key IS NOT NULL ORDER BY expires_at LIMIT $2)
             FOR UPDATE SKIP LOCKED;

-- regional: media-hold-object
SELECT key FROM media_objects
           WHERE channel_id = $1 AND sha256 = $2 AND stored_at IS NOT NULL AND doomed_at IS NULL
           LIMIT 1 FOR UPDATE;

-- regional: media-is-deleted
SELECT id FROM media_files WHERE channel_id = $1 AND id = $2 AND object_key IS NULL AND expires_at > $3;

-- regional: media-list-ASC
SELECT f.id, f.origin, o.key AS object_key, f.mime_type, f.file_name, o.size, o.sha256, f.created_at, f.expires_at FROM media_files f JOIN media_objects o ON o.key = f.object_key WHERE f.channel_id = $1 AND f.origin = 'uploaded' AND f.expires_at > $2
  AND f.created_at >= $3 AND ($4::timestamptz IS NULL OR f.created_at < $4)
           ORDER BY f.created_at ASC, f.id ASC LIMIT $5 OFFSET $6;

-- regional: media-list-DESC
SELECT f.id, f.origin, o.key AS object_key, f.mime_type, f.file_name, o.size, o.sha256, f.created_at, f.expires_at FROM media_files f JOIN media_objects o ON o.key = f.object_key WHERE f.channel_id = $1 AND f.origin = 'uploaded' AND f.expires_at > $2
  AND f.created_at >= $3 AND ($4::timestamptz IS NULL OR f.created_at < $4)
           ORDER BY f.created_at DESC, f.id DESC LIMIT $5 OFFSET $6;

-- regional: media-lock-content
SELECT pg_advisory_xact_lock(hashtextextended($1, 4))::text AS locked;

-- regional: media-lock-objects
SELECT key FROM media_objects WHERE key = ANY($1) ORDER BY key FOR UPDATE;

-- regional: media-mark-deleted
INSERT INTO media_files (channel_id, id, origin, mime_type, created_at, expires_at)
               VALUES ($1, $2, 'received', '', $3, $4) ON CONFLICT DO NOTHING;

-- regional: media-of-channel
SELECT DISTINCT object_key FROM media_files WHERE channel_id = $1 AND object_key IS NOT NULL;

-- regional: media-of-deleted-channels
SELECT c.id FROM channels c WHERE c.deleted_at IS NOT NULL AND EXISTS (SELECT 1 FROM media_files f WHERE f.channel_id = c.id);

-- regional: media-remember-copy
INSERT INTO media_network_copies (object_key, variant, direct_path, url, media_key, file_sha256,
               file_enc_sha256, file_length, prepared, uploaded_at)
             SELECT key, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM media_objects WHERE key = $1
             ON CONFLICT (object_key, variant) DO UPDATE
             SET direct_path = excluded.direct_path, url = excluded.url, media_key = excluded.media_key,
                 file_sha256 = excluded.file_sha256, file_enc_sha256 = excluded.file_enc_sha256,
                 file_length = excluded.file_length, prepared = excluded.prepared, uploaded_at = excluded.uploaded_at;

-- regional: media-type-of-object
SELECT mime_type FROM media_files WHERE object_key = $1 ORDER BY created_at, id LIMIT 1;

-- regional: media-usage
SELECT bytes FROM media_usage WHERE channel_id = $1;

-- regional: media-write-file
INSERT INTO media_files (channel_id, id, origin, object_key, mime_type, file_name, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (channel_id, id) DO UPDATE
           SET object_key = excluded.object_key, mime_type = excluded.mime_type, file_name = excluded.file_name,
               expires_at = excluded.expires_at
           WHERE media_files.object_key IS NOT NULL;

-- regional: media-written
SELECT f.id, f.origin, o.key AS object_key, f.mime_type, f.file_name, o.size, o.sha256, f.created_at, f.expires_at FROM media_files f JOIN media_objects o ON o.key = f.object_key
               WHERE f.channel_id = $1 AND f.id = $2;

-- regional: merge-authors
UPDATE messages SET author = $3 WHERE channel_id = $1 AND author = $2;

-- regional: merge-chat
INSERT INTO chats AS known (channel_id, id, type, name, timestamp, unread, pinned, archived, mute_until_ms,
  last_message_id, ephemeral_s, ephemeral_at)
SELECT channel_id, $3, type, name, timestamp, unread, pinned, archived, mute_until_ms, last_message_id, ephemeral_s,
  ephemeral_at
FROM chats WHERE channel_id = $1 AND id = $2
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(known.name, excluded.name),
  unread = known.unread + excluded.unread,
  pinned = known.pinned OR excluded.pinned,
  archived = known.archived AND excluded.archived,
  mute_until_ms = greatest(known.mute_until_ms, excluded.mute_until_ms),
  ephemeral_s = CASE WHEN coalesce(known.ephemeral_at, 0) >= coalesce(excluded.ephemeral_at, 0)
    THEN known.ephemeral_s ELSE excluded.ephemeral_s END,
  ephemeral_at = greatest(known.ephemeral_at, excluded.ephemeral_at),
  last_message_id = CASE WHEN excluded.timestamp >= known.timestamp
    THEN coalesce(excluded.last_message_id, known.last_message_id) ELSE known.last_message_id END,
  timestamp = greatest(known.timestamp, excluded.timestamp);

-- regional: merge-chat-gone
DELETE FROM chats WHERE channel_id = $1 AND id = $2;

-- regional: merge-contact
WITH stranger AS (DELETE FROM contacts WHERE channel_id = $1 AND id = $2 RETURNING *)
INSERT INTO contacts AS known (channel_id, id, name, push_name, lid, business, about, picture, picture_full,
  pictures_asked_at)
SELECT $1, $3, s.name, s.push_name, $4, coalesce(s.business, false), s.about, s.picture, s.picture_full,
  s.pictures_asked_at
FROM (VALUES (1)) AS once LEFT JOIN stranger s ON true
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(known.name, excluded.name),
  push_name = coalesce(known.push_name, excluded.push_name),
  lid = excluded.lid,
  business = known.business OR excluded.business,
  about = coalesce(known.about, excluded.about),
  picture = coalesce(known.picture, excluded.picture),
  picture_full = coalesce(known.picture_full, excluded.picture_full);

-- regional: merge-counts
WITH moved AS (DELETE FROM row_counts WHERE channel_id = $1 AND kind = 'messages' AND chat_id = $2 RETURNING *)
INSERT INTO row_counts AS known (channel_id, kind, chat_id, rows, system_rows)
SELECT $1, 'messages', $3, rows, system_rows FROM moved
ON CONFLICT (channel_id, kind, chat_id) DO UPDATE SET
  rows = known.rows + excluded.rows, system_rows = known.system_rows + excluded.system_rows;

-- regional: merge-messages
UPDATE messages SET chat_id = $3 WHERE channel_id = $1 AND chat_id = $2;

-- regional: merge-viewers
WITH moved AS (
  DELETE FROM receipts WHERE channel_id = $1 AND viewer_id = $2 AND viewer_id LIKE '%@lid' RETURNING *
)
INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
SELECT channel_id, key_id, $3, status, timestamp, errors FROM moved ON CONFLICT DO NOTHING;

-- regional: message-by-id
SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content,
      coalesce(g.facts ->> 'name', c.name, p.name, p.push_name) AS chat_name, coalesce(a.name, a.push_name) AS contact_name
    FROM (SELECT * FROM messages WHERE channel_id = $1 AND id = $2) m
    LEFT JOIN groups g ON g.channel_id = m.channel_id AND g.id = m.chat_id
    LEFT JOIN chats c ON c.channel_id = m.channel_id AND c.id = m.chat_id
    LEFT JOIN contacts p ON p.channel_id = m.channel_id AND p.id = CASE WHEN m.chat_id LIKE '%@s.whatsapp.net' THEN split_part(m.chat_id, '@', 1) ELSE m.chat_id END
    LEFT JOIN contacts a ON a.channel_id = m.channel_id AND a.id = m.author;

-- regional: message-in-chat
SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content, m.key_id, m.key_remote, m.key_participant, m.proto
         FROM messages m WHERE m.channel_id = $1 AND m.key_id = $2 AND m.chat_id = $3 AND m.type <> 'action';

-- regional: message-to-update
SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content, m.key_id, m.key_remote, m.key_participant, m.proto FROM messages m WHERE m.channel_id = $1 AND m.id = $2 FOR UPDATE;

-- regional: message-with-key
SELECT m.id, m.chat_id, m.from_me, m.author, m.author_name, m.type, m.source, m.timestamp, m.device_id, m.status, m.content, m.key_id, m.key_remote, m.key_participant, m.proto FROM messages m WHERE m.channel_id = $1 AND m.id = $2;

-- regional: messages-naming
SELECT id, content FROM messages
WHERE channel_id = $1 AND content::text LIKE '%@lid"%' AND position($2 in content::text) > 0;

-- regional: move-cursor-back
UPDATE webhook_cursors SET position = $3, attempts = 0, refusals = 0, paused = false, last_status = NULL,
           last_error = NULL, since = now(), leased_by = NULL, leased_until = NULL, next_attempt_at = now()
         WHERE channel_id = $1 AND webhook_id = $2;

-- regional: new-messages
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, live boolean, records jsonb)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL (SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE) s
  
), record AS (
  SELECT locked.channel_id, locked.live, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.records) AS (id text, chat_id text, key_id text, key_remote text, key_participant text, aliases text[], from_me boolean, author text, author_name text, type text, source text, timestamp bigint, device_id int, status text, content jsonb, proto text, chat_type text, method text, message jsonb)
  ) WITH ORDINALITY AS r(id, chat_id, key_id, key_remote, key_participant, aliases, from_me, author, author_name, type, source, timestamp, device_id, status, content, proto, chat_type, method, message, n)
), author AS (
  INSERT INTO contacts AS known (channel_id, id, push_name)
  SELECT DISTINCT ON (channel_id, author) channel_id, author, author_name FROM record
  WHERE live AND NOT from_me AND author IS NOT NULL AND author_name IS NOT NULL ORDER BY channel_id, author, n DESC
  ON CONFLICT (channel_id, id) DO UPDATE SET push_name = excluded.push_name
    WHERE known.push_name IS DISTINCT FROM excluded.push_name
  RETURNING channel_id, id, push_name
), message AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source,
    timestamp, device_id, status, content, proto)
  SELECT channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source, timestamp,
    device_id, status, content, decode(proto, 'base64')
  FROM record WHERE (
    SELECT true FROM messages known
    WHERE known.channel_id = record.channel_id AND known.key_id = record.key_id AND known.from_me = record.from_me
      AND known.key_remote = ANY (record.aliases)
      AND (known.key_participant IS NULL OR known.key_participant = ANY (record.aliases))
    LIMIT 1
  ) IS NULL
  ON CONFLICT (channel_id, id) DO NOTHING
  RETURNING channel_id, id
), fresh AS (
  SELECT record.*, record.type NOT IN ('action', 'system') AS counts,
    live AND record.type NOT IN ('action', 'system') AND from_me AND source <> 'api' AS answers
  FROM record JOIN message USING (channel_id, id)
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT channel_id, key_id, '', status, timestamp FROM fresh WHERE from_me AND status IS NOT NULL
  ON CONFLICT DO NOTHING
), touched AS (
  SELECT DISTINCT ON (channel_id, chat_id) channel_id, chat_id AS id, chat_type AS type, unread, is_read,
    CASE WHEN counts THEN timestamp ELSE first_timestamp END AS timestamp, CASE WHEN counts THEN id END AS last_message_id
  FROM (
    SELECT *, first_value(timestamp) OVER chat AS first_timestamp, bool_or(answers) OVER chat AS is_read,
      count(*) FILTER (WHERE live AND counts AND NOT from_me AND n > coalesce(
        (SELECT max(n) FROM fresh a WHERE a.answers AND a.channel_id = f.channel_id AND a.chat_id = f.chat_id), 0)) OVER chat AS unread
    FROM fresh f
    WINDOW chat AS (PARTITION BY channel_id, chat_id ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ) f ORDER BY channel_id, chat_id, counts DESC, timestamp DESC, n DESC
), chat AS (
  INSERT INTO chats (channel_id, id, type, timestamp, unread, last_message_id)
  SELECT channel_id, id, type, timestamp, unread, last_message_id FROM touched
  ON CONFLICT (channel_id, id) DO UPDATE SET 
    unread = excluded.unread + CASE
      WHEN chats.unread = 0 OR (SELECT is_read FROM touched t WHERE t.channel_id = chats.channel_id AND t.id = chats.id) THEN 0
      ELSE chats.unread END,
    last_message_id = CASE
      WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN coalesce(excluded.last_message_id, chats.last_message_id) ELSE chats.last_message_id END,
    timestamp = CASE WHEN excluded.last_message_id IS NULL THEN chats.timestamp
      ELSE greatest(chats.timestamp, excluded.timestamp) END
  RETURNING channel_id, id, timestamp, unread, coalesce((SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = chats.channel_id
      AND g.id = chats.id), chats.name, (SELECT k.name FROM contacts k
    WHERE k.channel_id = chats.channel_id AND k.id = CASE WHEN chats.id LIKE '%@s.whatsapp.net' THEN split_part(chats.id, '@', 1) ELSE chats.id END)) AS saved_name, xmax = 0 AS is_new
    , (SELECT k.push_name FROM contacts k
    WHERE k.channel_id = chats.channel_id AND k.id = CASE WHEN chats.id LIKE '%@s.whatsapp.net' THEN split_part(chats.id, '@', 1) ELSE chats.id END) AS push_name
), announced AS (
  SELECT f.channel_id, f.id, f.n, f.method, f.message, chat.saved_name,
    count(f.method) OVER (PARTITION BY f.channel_id ORDER BY f.n DESC ROWS UNBOUNDED PRECEDING) AS from_end
    , f.chat_id, f.chat_type, chat.timestamp AS chat_timestamp, chat.unread, chat.push_name, chat.is_new
  FROM fresh f JOIN chat ON chat.channel_id = f.channel_id AND chat.id = f.chat_id
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, max(from_end) FROM announced GROUP BY channel_id HAVING max(from_end) > 0
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT channel_id, seq.last_seq - from_end + 1, NULL::uuid, 'messages', method, jsonb_build_object('messages',
    jsonb_build_array(message || jsonb_strip_nulls(jsonb_build_object('chat_name', saved_name)))), NULL, NULL
  FROM announced JOIN seq USING (channel_id) WHERE method IS NOT NULL) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, a.id,
  CASE WHEN a.method IS NOT NULL THEN seq.last_seq - a.from_end + 1 END AS seq, CASE WHEN a.is_new THEN jsonb_build_object('id', a.chat_id, 'type', a.chat_type, 'timestamp', a.chat_timestamp,
    'unread', a.unread, 'name', coalesce(a.saved_name, (SELECT push_name FROM author
      WHERE author.channel_id = a.channel_id AND author.id = CASE WHEN a.chat_id LIKE '%@s.whatsapp.net' THEN split_part(a.chat_id, '@', 1) ELSE a.chat_id END), a.push_name)) END AS new_chat
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN announced a USING (channel_id)
  LEFT JOIN seq USING (channel_id)
ORDER BY a.n;

-- regional: newest-event
SELECT last_seq FROM event_sequences WHERE channel_id = $1;

-- regional: news-of-contacts
SELECT c.at FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS e(fields, at)
CROSS JOIN LATERAL (SELECT e.at, r.* FROM jsonb_to_record(e.fields) AS r(id text, name text, "pushName" text, lid text,
  business boolean, about text, picture text, "pictureFull" text)) c
LEFT JOIN contacts known ON known.channel_id = $1 AND known.id = c.id
WHERE known.id IS NULL
  OR c.name IS DISTINCT FROM known.name AND c.name IS NOT NULL
  OR c."pushName" IS DISTINCT FROM known.push_name AND c."pushName" IS NOT NULL
  OR c.lid IS DISTINCT FROM known.lid AND c.lid IS NOT NULL
  OR c.business AND NOT known.business
  OR c.about IS DISTINCT FROM known.about AND c.about IS NOT NULL
  OR c.picture IS DISTINCT FROM known.picture AND c.picture IS NOT NULL
  OR c."pictureFull" IS DISTINCT FROM known.picture_full AND c."pictureFull" IS NOT NULL;

-- regional: next-retry
SELECT extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS wait_ms
         FROM webhook_cursors WHERE next_attempt_at > clock_timestamp() ORDER BY next_attempt_at LIMIT 1;

-- regional: number-name
SELECT network FROM number_names WHERE channel_id = $1 AND typed = $2;

-- regional: numbers-of-lids
SELECT id, lid FROM contacts WHERE channel_id = $1 AND lid = ANY ($2) AND id NOT LIKE '%@lid';

-- regional: numbers-of-members
SELECT m.lid, m.phone FROM groups g, jsonb_to_recordset(g.members) AS m(lid text, phone text)
         WHERE g.channel_id = $1 AND g.id = ANY ($2) AND m.lid = ANY ($3) AND m.phone IS NOT NULL;

-- regional: own-send
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, live boolean, records jsonb)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL (SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE) s
  WHERE (SELECT true FROM chats c WHERE c.channel_id = g.channel_id AND c.id = g.records -> 0 ->> 'chat_id')
), record AS (
  SELECT locked.channel_id, locked.live, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.records) AS (id text, chat_id text, key_id text, key_remote text, key_participant text, aliases text[], from_me boolean, author text, author_name text, type text, source text, timestamp bigint, device_id int, status text, content jsonb, proto text, chat_type text, method text, message jsonb)
  ) WITH ORDINALITY AS r(id, chat_id, key_id, key_remote, key_participant, aliases, from_me, author, author_name, type, source, timestamp, device_id, status, content, proto, chat_type, method, message, n)
), message AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source,
    timestamp, device_id, status, content, proto)
  SELECT channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source, timestamp,
    device_id, status, content, decode(proto, 'base64')
  FROM record 
  ON CONFLICT (channel_id, id) DO NOTHING
  RETURNING channel_id, id
), fresh AS (
  SELECT record.*, record.type NOT IN ('action', 'system') AS counts,
    live AND record.type NOT IN ('action', 'system') AND from_me AND source <> 'api' AS answers
  FROM record JOIN message USING (channel_id, id)
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT channel_id, key_id, '', status, timestamp FROM fresh WHERE from_me AND status IS NOT NULL
  ON CONFLICT DO NOTHING
), touched AS (
  SELECT channel_id, chat_id AS id, chat_type AS type, 0 AS unread, false AS is_read, timestamp,
    CASE WHEN counts THEN id END AS last_message_id
  FROM fresh
), chat AS (
  INSERT INTO chats (channel_id, id, type, timestamp, unread, last_message_id)
  SELECT channel_id, id, type, timestamp, unread, last_message_id FROM touched
  ON CONFLICT (channel_id, id) DO UPDATE SET 
    unread = excluded.unread + CASE
      WHEN chats.unread = 0 OR (SELECT is_read FROM touched t WHERE t.channel_id = chats.channel_id AND t.id = chats.id) THEN 0
      ELSE chats.unread END,
    last_message_id = CASE
      WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN coalesce(excluded.last_message_id, chats.last_message_id) ELSE chats.last_message_id END,
    timestamp = CASE WHEN excluded.last_message_id IS NULL THEN chats.timestamp
      ELSE greatest(chats.timestamp, excluded.timestamp) END
  RETURNING channel_id, id, timestamp, unread, coalesce((SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = chats.channel_id
      AND g.id = chats.id), chats.name, (SELECT k.name FROM contacts k
    WHERE k.channel_id = chats.channel_id AND k.id = CASE WHEN chats.id LIKE '%@s.whatsapp.net' THEN split_part(chats.id, '@', 1) ELSE chats.id END)) AS saved_name, xmax = 0 AS is_new
    
), announced AS (
  SELECT f.channel_id, f.id, f.n, f.method, f.message, chat.saved_name,
    num_nonnulls(f.method) AS from_end
    
  FROM fresh f JOIN chat ON chat.channel_id = f.channel_id AND chat.id = f.chat_id
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, max(from_end) FROM announced GROUP BY channel_id HAVING max(from_end) > 0
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT channel_id, seq.last_seq - from_end + 1, NULL::uuid, 'messages', method, jsonb_build_object('messages',
    jsonb_build_array(message || jsonb_strip_nulls(jsonb_build_object('chat_name', saved_name)))), NULL, NULL
  FROM announced JOIN seq USING (channel_id) WHERE method IS NOT NULL) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, a.id,
  CASE WHEN a.method IS NOT NULL THEN seq.last_seq - a.from_end + 1 END AS seq, NULL::jsonb AS new_chat
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN announced a USING (channel_id)
  LEFT JOIN seq USING (channel_id)
ORDER BY a.n;

-- regional: own-sends
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, live boolean, records jsonb)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL (SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE SKIP LOCKED) s
  WHERE (SELECT true FROM chats c WHERE c.channel_id = g.channel_id AND c.id = g.records -> 0 ->> 'chat_id')
), record AS (
  SELECT locked.channel_id, locked.live, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.records) AS (id text, chat_id text, key_id text, key_remote text, key_participant text, aliases text[], from_me boolean, author text, author_name text, type text, source text, timestamp bigint, device_id int, status text, content jsonb, proto text, chat_type text, method text, message jsonb)
  ) WITH ORDINALITY AS r(id, chat_id, key_id, key_remote, key_participant, aliases, from_me, author, author_name, type, source, timestamp, device_id, status, content, proto, chat_type, method, message, n)
), message AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source,
    timestamp, device_id, status, content, proto)
  SELECT channel_id, id, chat_id, key_id, key_remote, key_participant, from_me, author, author_name, type, source, timestamp,
    device_id, status, content, decode(proto, 'base64')
  FROM record 
  ON CONFLICT (channel_id, id) DO NOTHING
  RETURNING channel_id, id
), fresh AS (
  SELECT record.*, record.type NOT IN ('action', 'system') AS counts,
    live AND record.type NOT IN ('action', 'system') AND from_me AND source <> 'api' AS answers
  FROM record JOIN message USING (channel_id, id)
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp)
  SELECT channel_id, key_id, '', status, timestamp FROM fresh WHERE from_me AND status IS NOT NULL
  ON CONFLICT DO NOTHING
), touched AS (
  SELECT channel_id, chat_id AS id, chat_type AS type, 0 AS unread, false AS is_read, timestamp,
    CASE WHEN counts THEN id END AS last_message_id
  FROM fresh
), chat AS (
  INSERT INTO chats (channel_id, id, type, timestamp, unread, last_message_id)
  SELECT channel_id, id, type, timestamp, unread, last_message_id FROM touched
  ON CONFLICT (channel_id, id) DO UPDATE SET 
    unread = excluded.unread + CASE
      WHEN chats.unread = 0 OR (SELECT is_read FROM touched t WHERE t.channel_id = chats.channel_id AND t.id = chats.id) THEN 0
      ELSE chats.unread END,
    last_message_id = CASE
      WHEN chats.last_message_id IS NULL OR excluded.timestamp >= chats.timestamp
      THEN coalesce(excluded.last_message_id, chats.last_message_id) ELSE chats.last_message_id END,
    timestamp = CASE WHEN excluded.last_message_id IS NULL THEN chats.timestamp
      ELSE greatest(chats.timestamp, excluded.timestamp) END
  RETURNING channel_id, id, timestamp, unread, coalesce((SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = chats.channel_id
      AND g.id = chats.id), chats.name, (SELECT k.name FROM contacts k
    WHERE k.channel_id = chats.channel_id AND k.id = CASE WHEN chats.id LIKE '%@s.whatsapp.net' THEN split_part(chats.id, '@', 1) ELSE chats.id END)) AS saved_name, xmax = 0 AS is_new
    
), announced AS (
  SELECT f.channel_id, f.id, f.n, f.method, f.message, chat.saved_name,
    num_nonnulls(f.method) AS from_end
    
  FROM fresh f JOIN chat ON chat.channel_id = f.channel_id AND chat.id = f.chat_id
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, max(from_end) FROM announced GROUP BY channel_id HAVING max(from_end) > 0
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT channel_id, seq.last_seq - from_end + 1, NULL::uuid, 'messages', method, jsonb_build_object('messages',
    jsonb_build_array(message || jsonb_strip_nulls(jsonb_build_object('chat_name', saved_name)))), NULL, NULL
  FROM announced JOIN seq USING (channel_id) WHERE method IS NOT NULL) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, a.id,
  CASE WHEN a.method IS NOT NULL THEN seq.last_seq - a.from_end + 1 END AS seq, NULL::jsonb AS new_chat
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN announced a USING (channel_id)
  LEFT JOIN seq USING (channel_id)
ORDER BY a.n;

-- regional: pause-cursor
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = true, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()),
    next_attempt_at = date_trunc('milliseconds', clock_timestamp()) + $11::float8 * interval '1 ms'
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: pause-cursor-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = true, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()),
    next_attempt_at = date_trunc('milliseconds', clock_timestamp()) + $11::float8 * interval '1 ms'
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($12::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: pending-events
SELECT s.last_seq, e.* FROM event_sequences s LEFT JOIN LATERAL (
           SELECT e.seq, e.id, e.type, e.method, e.payload, e.conversation,
                  extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms,
                  extract(epoch FROM clock_timestamp() - greatest(e.created_at, c.since))::float8 * 1000 AS waited_ms
           FROM events e LEFT JOIN webhook_cursors c ON c.channel_id = $1 AND c.webhook_id = $6
           WHERE e.channel_id = $1 AND e.seq > $2 AND e.seq <= s.last_seq AND (e.webhook_id = $6
    OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($3::text[])))
             AND ($4::float8 IS NULL OR e.created_at > clock_timestamp() - $4 * interval '1 second')
           ORDER BY e.seq LIMIT $5) e ON true
         WHERE s.channel_id = $1 ORDER BY e.seq;

-- regional: pending-redrives
SELECT e.seq, e.id, e.type, e.method, e.payload, e.conversation, d.attempts, 0::float8 AS waited_ms,
           extract(epoch FROM clock_timestamp() - e.created_at)::float8 * 1000 AS age_ms
         FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
         WHERE d.channel_id = $1 AND d.webhook_id = $2 AND d.redrive_at IS NOT NULL ORDER BY d.seq LIMIT $3;

-- regional: pending-sends
SELECT key_id FROM (
           SELECT key_id, status, source, timestamp FROM messages WHERE channel_id = $1 AND author = $2
           ORDER BY timestamp DESC, id DESC LIMIT 500
         ) m WHERE status = 'pending' AND source = 'api' AND timestamp <= $3;

-- regional: pick-shard
SELECT s.shard FROM unnest($1::int[]) AS s(shard)
         LEFT JOIN channels c ON c.shard = s.shard AND c.deleted_at IS NULL
         GROUP BY s.shard ORDER BY count(c.id), s.shard LIMIT 1;

-- regional: place-shard
UPDATE shard_leases SET placed_on = $2
         WHERE shard = $1 AND EXISTS (SELECT 1 FROM workers w WHERE w.id = $2 AND w.expires_at > now() AND NOT w.draining AND w.drained_at IS NULL);

-- regional: proto-by-key
SELECT proto FROM messages WHERE channel_id = $1 AND key_id = $2 AND from_me AND chat_id = ANY ($3);

-- regional: prove-channel-changes
SELECT pg_notify($1, $2)::text AS sent FROM pg_trigger
WHERE tgrelid = 'channels'::regclass AND tgname = 'channels_changed' AND tgenabled IN ('O', 'A');

-- regional: pull-events
SELECT id, seq, type, method, payload, created_at,
           extract(epoch FROM clock_timestamp() - created_at)::float8 * 1000 AS age_ms
         FROM events
         WHERE channel_id = $1 AND seq > $2 AND webhook_id IS NULL ORDER BY seq LIMIT $3;

-- regional: put-back-cursor
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp()) END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: put-back-cursor-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp()) END
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($11::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: put-back-cursor-with-held
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp())
    ELSE (SELECT coalesce(min(h.next_attempt_at), clock_timestamp()) FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2 HAVING count(*) > 0) END,
  has_held = EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2)
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: put-back-cursor-with-held-queueing
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, position = $10, paused = false, leased_by = NULL, leased_until = NULL, turn_at = date_trunc('milliseconds', clock_timestamp()), next_attempt_at = CASE WHEN redriving THEN date_trunc('milliseconds', clock_timestamp())
    ELSE (SELECT coalesce(min(h.next_attempt_at), clock_timestamp()) FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2 HAVING count(*) > 0) END,
  has_held = EXISTS (SELECT 1 FROM webhook_held_events h WHERE h.channel_id = $1 AND h.webhook_id = $2)
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text)), queueing AS (
  INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, next_attempt_at)
  SELECT $1, $2, q.seq, q.conversation, CASE WHEN q.due THEN clock_timestamp() END
  FROM held, jsonb_to_recordset($11::jsonb) AS q(seq bigint, conversation text, due boolean)
  ON CONFLICT DO NOTHING
)
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: read-all-auth-keys
SELECT id, sealed FROM auth_keys WHERE channel_id = $1 AND type = $2;

-- regional: read-auth-keys
SELECT id, sealed FROM auth_keys WHERE channel_id = $1 AND type = $2 AND id = ANY($3);

-- regional: read-creds
SELECT sealed FROM auth_creds WHERE channel_id = $1;

-- regional: read-data-key
SELECT master_key_id, wrapped_key FROM channel_keys WHERE channel_id = $1;

-- regional: record-master-key-print
WITH added AS (
           INSERT INTO master_key_prints (purpose, key_id, print) VALUES ($1, $2, $3)
           ON CONFLICT DO NOTHING RETURNING print)
         SELECT print FROM added UNION ALL SELECT print FROM master_key_prints WHERE purpose = $1 AND key_id = $2;

-- regional: record-number-name
INSERT INTO number_names (channel_id, typed, network) VALUES ($1, $2, $3)
         ON CONFLICT (channel_id, typed) DO UPDATE SET network = excluded.network;

-- regional: record-read
UPDATE chats SET unread = least(unread, (
  SELECT count(*)::int FROM messages later
  WHERE later.channel_id = $1 AND later.chat_id = r.chat_id AND NOT later.from_me
    AND later.type NOT IN ('action', 'system') AND later.timestamp > r.last))
FROM (
  SELECT chat_id, max(timestamp) AS last FROM messages
  WHERE channel_id = $1 AND key_id = ANY ($2) AND NOT from_me GROUP BY chat_id
) r
WHERE chats.channel_id = $1 AND chats.id = r.chat_id;

-- regional: record-redirect
UPDATE webhook_cursors SET redirects_to = $4
         WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 AND redirects_to IS NULL;

-- regional: record-region
INSERT INTO region (name) VALUES ($1) ON CONFLICT DO NOTHING;

-- regional: record-session-state
WITH fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE), changed AS (
  UPDATE channels SET
    session_since = CASE WHEN session_state = $4 THEN session_since ELSE now() END,
    session_state = $4,
    session_reason = $5,
    linked = coalesce($6::boolean, linked),
    first_linked_at = coalesce(first_linked_at, CASE WHEN $6::boolean THEN now() END),
    billing_due = billing_due OR (coalesce($6::boolean, false) AND first_linked_at IS NULL),
    phone = CASE WHEN $7::boolean THEN $8 ELSE phone END,
    lid = CASE WHEN $9::boolean THEN $10 ELSE lid END,
    device_id = CASE WHEN $11::boolean THEN $12::int ELSE device_id END,
    push_name = CASE WHEN $13::boolean THEN $14 ELSE push_name END
  FROM fence WHERE id = $3 AND shard = $1
  RETURNING id
)
SELECT (SELECT count(*) FROM fence) AS fenced, (SELECT count(*) FROM changed) AS changed;

-- regional: region
SELECT name FROM region;

-- regional: release-shard
UPDATE shard_leases SET owner_id = NULL, expires_at = NULL WHERE shard = $1 AND epoch = $2 AND owner_id = $3;

-- regional: remove-messages
UPDATE messages SET status = 'deleted'
         WHERE channel_id = $1 AND key_id = ANY ($2) AND type <> 'action' AND status IS DISTINCT FROM 'deleted'
         RETURNING id, chat_id;

-- regional: remove-messages-of-chat
WITH doomed AS (
  SELECT id, key_id FROM messages
  WHERE channel_id = $1 AND chat_id = $2 AND timestamp <= coalesce($4::bigint, timestamp)
    AND created_at <= coalesce($5::timestamptz, created_at) LIMIT $3
), receipts_gone AS (
  DELETE FROM receipts USING doomed WHERE receipts.channel_id = $1 AND receipts.key_id = doomed.key_id
)
DELETE FROM messages USING doomed WHERE messages.channel_id = $1 AND messages.id = doomed.id
RETURNING messages.id, messages.content -> messages.type ->> 'id' AS file;

-- regional: remove-some-chat_removals
DELETE FROM chat_removals WHERE ctid = ANY (ARRAY(SELECT ctid FROM chat_removals WHERE channel_id = $1 LIMIT $2));

-- regional: remove-some-chats
DELETE FROM chats WHERE ctid = ANY (ARRAY(SELECT ctid FROM chats WHERE channel_id = $1 LIMIT $2));

-- regional: remove-some-contacts
DELETE FROM contacts WHERE ctid = ANY (ARRAY(SELECT ctid FROM contacts WHERE channel_id = $1 LIMIT $2));

-- regional: remove-some-group_syncs
DELETE FROM group_syncs WHERE ctid = ANY (ARRAY(SELECT ctid FROM group_syncs WHERE channel_id = $1 LIMIT $2));

-- regional: remove-some-groups
DELETE FROM groups WHERE ctid = ANY (ARRAY(SELECT ctid FROM groups WHERE channel_id = $1 LIMIT $2));

-- regional: remove-some-messages
DELETE FROM messages WHERE ctid = ANY (ARRAY(SELECT ctid FROM messages WHERE channel_id = $1 LIMIT $2)) RETURNING messages.id, messages.content -> messages.type ->> 'id' AS file;

-- regional: remove-some-receipts
DELETE FROM receipts WHERE ctid = ANY (ARRAY(SELECT ctid FROM receipts WHERE channel_id = $1 LIMIT $2));

-- regional: rename-channel
UPDATE channels SET name = $2 WHERE id = $1 AND deleted_at IS NULL;

-- regional: rename-in-messages
UPDATE messages SET content = r.content FROM jsonb_to_recordset($2::jsonb) AS r(id text, content jsonb)
         WHERE messages.channel_id = $1 AND messages.id = r.id;

-- regional: renew-cursor
WITH held AS (
        UPDATE webhook_cursors SET attempts = $5, refusals = $6, last_status = $7, last_error = $8,
  accepted_at = CASE WHEN $9::bool THEN clock_timestamp() ELSE accepted_at END, leased_until = clock_timestamp() + $10::float8 * interval '1 ms'
        WHERE channel_id = $1 AND webhook_id = $2 AND leased_by = $3 RETURNING position
      ), logged AS (INSERT INTO webhook_attempts
    (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, error, took_ms, answer)
  SELECT $1, $2, a.* FROM held, jsonb_to_recordset($4::jsonb) AS a(seq bigint, event_id uuid, type text, method text,
    attempt int, outcome text, status int, error text, took_ms int, answer text))
      SELECT count(*)::int AS held, min(position)::text AS position FROM held;

-- regional: renew-shards
UPDATE shard_leases l SET expires_at = now() + make_interval(secs => $2::float8 / 1000)
FROM unnest($3::int[], $4::int8[]) AS held(shard, epoch)
WHERE l.shard = held.shard AND l.epoch = held.epoch AND l.owner_id = $1
RETURNING l.shard, l.epoch;

-- regional: request-redrive
UPDATE dead_letters SET redrive_at = coalesce(redrive_at, now())
         WHERE channel_id = $1 AND webhook_id = $2 AND ($3::bigint[] IS NULL OR seq = ANY ($3::bigint[]));

-- regional: restore-creds
INSERT INTO auth_creds (channel_id, sealed, epoch) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- regional: restore-data-key
INSERT INTO channel_keys (channel_id, master_key_id, wrapped_key) VALUES ($1, $2, $3)
         ON CONFLICT (channel_id) DO UPDATE SET master_key_id = $2, wrapped_key = $3;

-- regional: restore-keys
INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
         SELECT $1, type, id, sealed, $5 FROM unnest($2::text[], $3::text[], $4::bytea[]) AS given(type, id, sealed);

-- regional: rewrap-data-key
WITH fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE), written AS (
  UPDATE channel_keys SET master_key_id = $4, wrapped_key = $5 FROM fence WHERE channel_id = $3 AND wrapped_key = $6
)
SELECT count(*)::int AS fenced FROM fence;

-- regional: rotate-token
UPDATE channels SET token_hash = $2 WHERE id = $1 AND deleted_at IS NULL;

-- regional: secrets-to-reseal
SELECT id, secret FROM webhook_secrets WHERE channel_id = $1 AND key_id IS DISTINCT FROM $2 FOR UPDATE;

-- regional: set-drain
UPDATE workers SET drained_at = CASE WHEN $2::bool THEN coalesce(drained_at, now()) END
         WHERE id = $1 AND expires_at > now();

-- regional: set-redriving
UPDATE webhook_cursors SET redriving = EXISTS (
           SELECT 1 FROM dead_letters d JOIN events e ON e.channel_id = d.channel_id AND e.seq = d.seq
           WHERE d.channel_id = $1 AND d.webhook_id = $2 AND d.redrive_at IS NOT NULL)
         WHERE channel_id = $1 AND webhook_id = $2 RETURNING redriving;

-- regional: set-secret
UPDATE webhook_secrets SET secret = $2, key_id = $3 WHERE id = $1;

-- regional: set-settings
UPDATE channels SET settings = $2, settings_key_id = $3 WHERE id = $1;

-- regional: set-sleep
UPDATE channels SET sleep_override = $2 WHERE id = $1 AND deleted_at IS NULL;

-- regional: set-snapshots
UPDATE channels SET snapshots = $2 WHERE id = $1;

-- regional: set-standing
WITH before AS (
  SELECT id, standing FROM channels
  WHERE id = $1 AND deleted_at IS NULL AND standing_version < $3 FOR NO KEY UPDATE
)
UPDATE channels c SET standing = $2, standing_version = $3 FROM before b WHERE c.id = b.id
RETURNING b.standing <> $2 AS changed;

-- regional: set-wake
UPDATE channels SET wake_at = $2 WHERE id = $1;

-- regional: settings-to-reseal
SELECT settings FROM channels WHERE id = $1 AND settings_key_id IS DISTINCT FROM $2 AND settings <> '{}'::jsonb
         FOR NO KEY UPDATE;

-- regional: shard-numbers
SELECT shard FROM shard_leases ORDER BY shard;

-- regional: stale-groups
SELECT id FROM groups WHERE channel_id = $1 AND stale ORDER BY id;

-- regional: state-to-seal
SELECT c.sealed, k.master_key_id, k.wrapped_key FROM auth_creds c
         JOIN channel_keys k USING (channel_id) WHERE c.channel_id = $1;

-- regional: status-steps
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, early boolean, reports jsonb)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL (SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE) s
), report AS (
  SELECT locked.channel_id, locked.early, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.reports) AS (key_id text, viewer_id text, status text, timestamp bigint, errors jsonb)
  ) WITH ORDINALITY AS r(key_id, viewer_id, status, timestamp, errors, n)
), message AS (
  SELECT m.*, m.chat_id LIKE '%@g.us' AS in_group, first.n, first.timestamp AS reported_at, first.status AS reported,
    array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], coalesce(m.status, (ARRAY['pending', 'sent', 'delivered', 'read', 'played'])[1])) AS rank
  FROM (SELECT DISTINCT ON (channel_id, key_id) * FROM report ORDER BY channel_id, key_id, n) first, LATERAL (
    SELECT channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status FROM messages
    WHERE channel_id = first.channel_id AND key_id = first.key_id AND from_me LIMIT 1 FOR NO KEY UPDATE
  ) m WHERE m.status IS DISTINCT FROM 'failed'
), judged AS (
  SELECT r.channel_id, r.n, r.key_id, r.status, r.timestamp, r.errors, r.viewer_id IS NULL AS of_message,
    message.id, message.chat_id, message.in_group, message.status AS message_status, message.rank AS message_rank,
    CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END AS viewer_id, array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], r.status) AS rank,
    message.rank AS viewer_rank,
    false AS failed_before
  FROM report r JOIN message USING (channel_id, key_id) 
), step AS (
  SELECT *, row_number() OVER (PARTITION BY channel_id ORDER BY n DESC, part DESC) AS from_end FROM (
  SELECT channel_id, n, 0 AS part, key_id, id, chat_id, in_group, '' AS viewer_id, 'sent' AS status, reported_at AS timestamp,
    NULL::jsonb AS errors, 2 AS rank
  FROM message WHERE rank = 1 AND reported <> 'failed'
UNION ALL
  SELECT channel_id, n, 1, key_id, id, chat_id, in_group, viewer_id, status, timestamp, errors, rank
  FROM (
    SELECT *, max(rank) OVER (PARTITION BY channel_id, key_id, viewer_id ORDER BY n
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank_in_reports
    FROM judged
  ) j
  WHERE CASE
    WHEN status = 'sent' THEN false
    WHEN status <> 'failed' THEN message_rank IS NOT NULL AND rank > greatest(viewer_rank, rank_in_reports)
    WHEN of_message THEN coalesce(message_status, 'pending') = 'pending'
    ELSE coalesce(message_status, '') NOT IN ('failed', 'deleted') AND viewer_rank < 3 AND NOT failed_before
  END) s
), changed AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status)
  SELECT channel_id, m.id, m.chat_id, key_id, m.key_remote, m.from_me, m.type, m.source, m.timestamp, m.content,
    CASE WHEN top.failed THEN 'failed' ELSE (ARRAY['pending', 'sent', 'delivered', 'read', 'played'])[greatest(m.rank, top.rank)] END
  FROM message m JOIN (
    SELECT channel_id, key_id, max(rank) AS rank, bool_or(status = 'failed' AND (viewer_id = '' OR NOT in_group)) AS failed
    FROM step GROUP BY channel_id, key_id
  ) top USING (channel_id, key_id)
  ON CONFLICT (channel_id, id) DO UPDATE SET status = excluded.status
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
  SELECT channel_id, key_id, viewer_id, status, timestamp, errors FROM step 
  ON CONFLICT DO NOTHING
), taken AS (
  SELECT channel_id, max(from_end) AS steps FROM step GROUP BY channel_id
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, steps FROM taken
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT channel_id, seq.last_seq - step.from_end + 1, NULL::uuid, 'statuses', 'post',
    jsonb_build_object('statuses', jsonb_build_array(json_strip_nulls(json_build_object('id', step.id,
    'code', '{"failed":0,"pending":1,"sent":2,"delivered":3,"read":4,"played":5,"deleted":6}'::jsonb -> step.status, 'status', step.status, 'recipient_id', step.chat_id,
    'viewer_id', CASE WHEN step.in_group THEN nullif(step.viewer_id, '') END, 'timestamp', step.timestamp::text, 'errors', step.errors)))), NULL, NULL FROM step JOIN seq USING (channel_id)) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, message.key_id,
  seq.last_seq AS last, taken.steps
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN message USING (channel_id)
  LEFT JOIN taken USING (channel_id) LEFT JOIN seq USING (channel_id);

-- regional: status-steps-of-many
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, early boolean, reports jsonb)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL (SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE SKIP LOCKED) s
), report AS (
  SELECT locked.channel_id, locked.early, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.reports) AS (key_id text, viewer_id text, status text, timestamp bigint, errors jsonb)
  ) WITH ORDINALITY AS r(key_id, viewer_id, status, timestamp, errors, n)
), message AS (
  SELECT m.*, m.chat_id LIKE '%@g.us' AS in_group, first.n, first.timestamp AS reported_at, first.status AS reported,
    array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], coalesce(m.status, (ARRAY['pending', 'sent', 'delivered', 'read', 'played'])[1])) AS rank
  FROM (SELECT DISTINCT ON (channel_id, key_id) * FROM report ORDER BY channel_id, key_id, n) first, LATERAL (
    SELECT channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status FROM messages
    WHERE channel_id = first.channel_id AND key_id = first.key_id AND from_me LIMIT 1 FOR NO KEY UPDATE
  ) m WHERE m.status IS DISTINCT FROM 'failed'
), judged AS (
  SELECT r.channel_id, r.n, r.key_id, r.status, r.timestamp, r.errors, r.viewer_id IS NULL AS of_message,
    message.id, message.chat_id, message.in_group, message.status AS message_status, message.rank AS message_rank,
    CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END AS viewer_id, array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], r.status) AS rank,
    message.rank AS viewer_rank,
    false AS failed_before
  FROM report r JOIN message USING (channel_id, key_id) 
), step AS (
  SELECT *, row_number() OVER (PARTITION BY channel_id ORDER BY n DESC, part DESC) AS from_end FROM (
  SELECT channel_id, n, 0 AS part, key_id, id, chat_id, in_group, '' AS viewer_id, 'sent' AS status, reported_at AS timestamp,
    NULL::jsonb AS errors, 2 AS rank
  FROM message WHERE rank = 1 AND reported <> 'failed'
UNION ALL
  SELECT channel_id, n, 1, key_id, id, chat_id, in_group, viewer_id, status, timestamp, errors, rank
  FROM (
    SELECT *, max(rank) OVER (PARTITION BY channel_id, key_id, viewer_id ORDER BY n
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank_in_reports
    FROM judged
  ) j
  WHERE CASE
    WHEN status = 'sent' THEN false
    WHEN status <> 'failed' THEN message_rank IS NOT NULL AND rank > greatest(viewer_rank, rank_in_reports)
    WHEN of_message THEN coalesce(message_status, 'pending') = 'pending'
    ELSE coalesce(message_status, '') NOT IN ('failed', 'deleted') AND viewer_rank < 3 AND NOT failed_before
  END) s
), changed AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status)
  SELECT channel_id, m.id, m.chat_id, key_id, m.key_remote, m.from_me, m.type, m.source, m.timestamp, m.content,
    CASE WHEN top.failed THEN 'failed' ELSE (ARRAY['pending', 'sent', 'delivered', 'read', 'played'])[greatest(m.rank, top.rank)] END
  FROM message m JOIN (
    SELECT channel_id, key_id, max(rank) AS rank, bool_or(status = 'failed' AND (viewer_id = '' OR NOT in_group)) AS failed
    FROM step GROUP BY channel_id, key_id
  ) top USING (channel_id, key_id)
  ON CONFLICT (channel_id, id) DO UPDATE SET status = excluded.status
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
  SELECT channel_id, key_id, viewer_id, status, timestamp, errors FROM step 
  ON CONFLICT DO NOTHING
), taken AS (
  SELECT channel_id, max(from_end) AS steps FROM step GROUP BY channel_id
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, steps FROM taken
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT channel_id, seq.last_seq - step.from_end + 1, NULL::uuid, 'statuses', 'post',
    jsonb_build_object('statuses', jsonb_build_array(json_strip_nulls(json_build_object('id', step.id,
    'code', '{"failed":0,"pending":1,"sent":2,"delivered":3,"read":4,"played":5,"deleted":6}'::jsonb -> step.status, 'status', step.status, 'recipient_id', step.chat_id,
    'viewer_id', CASE WHEN step.in_group THEN nullif(step.viewer_id, '') END, 'timestamp', step.timestamp::text, 'errors', step.errors)))), NULL, NULL FROM step JOIN seq USING (channel_id)) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, message.key_id,
  seq.last_seq AS last, taken.steps
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN message USING (channel_id)
  LEFT JOIN taken USING (channel_id) LEFT JOIN seq USING (channel_id);

-- regional: status-steps-settled
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS g(shard int, epoch bigint, channel_id text, early boolean, reports jsonb)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), locked AS (
  SELECT g.* FROM given g JOIN fence USING (shard, epoch), LATERAL (SELECT 1 FROM event_sequences WHERE channel_id = g.channel_id FOR UPDATE) s
), report AS (
  SELECT locked.channel_id, locked.early, r.* FROM locked, LATERAL ROWS FROM (
    jsonb_to_recordset(locked.reports) AS (key_id text, viewer_id text, status text, timestamp bigint, errors jsonb)
  ) WITH ORDINALITY AS r(key_id, viewer_id, status, timestamp, errors, n)
), message AS (
  SELECT m.*, m.chat_id LIKE '%@g.us' AS in_group, first.n, first.timestamp AS reported_at, first.status AS reported,
    coalesce(array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], coalesce(m.status, (ARRAY['pending', 'sent', 'delivered', 'read', 'played'])[1])), failed.rank) AS rank
  FROM (SELECT DISTINCT ON (channel_id, key_id) * FROM report ORDER BY channel_id, key_id, n) first, LATERAL (
    SELECT channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status FROM messages
    WHERE channel_id = first.channel_id AND key_id = first.key_id AND from_me LIMIT 1 FOR NO KEY UPDATE
  ) m LEFT JOIN LATERAL (
    SELECT CASE WHEN max(array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], t.status)) FILTER (WHERE t.viewer_id = '') >= 2
      THEN 2 ELSE 1 END AS rank
    FROM receipts t WHERE m.status = 'failed' AND t.channel_id = m.channel_id AND t.key_id = m.key_id
    HAVING bool_or(t.status = 'failed' AND (t.errors @> '[{"code": 408}]' OR t.errors @> '[{"code": 424}]'))
  ) failed ON true
), judged AS (
  SELECT r.channel_id, r.n, r.key_id, r.status, r.timestamp, r.errors, r.viewer_id IS NULL AS of_message,
    message.id, message.chat_id, message.in_group, message.status AS message_status, message.rank AS message_rank,
    CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END AS viewer_id, array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], r.status) AS rank,
    CASE WHEN CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END = '' THEN message.rank ELSE coalesce(before.rank, 0) END AS viewer_rank,
    coalesce(before.failed, false) AS failed_before
  FROM report r JOIN message USING (channel_id, key_id) LEFT JOIN LATERAL (
    SELECT max(array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], t.status)) AS rank, bool_or(t.status = 'failed') AS failed FROM receipts t
    WHERE NOT r.early AND (CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END <> '' OR r.status = 'failed')
      AND t.channel_id = r.channel_id AND t.key_id = r.key_id AND t.viewer_id = CASE WHEN r.status = 'failed' AND NOT message.in_group THEN '' ELSE coalesce(r.viewer_id, '') END
  ) before ON true
), step AS (
  SELECT *, row_number() OVER (PARTITION BY channel_id ORDER BY n DESC, part DESC) AS from_end FROM (
  SELECT channel_id, n, 0 AS part, key_id, id, chat_id, in_group, '' AS viewer_id, 'sent' AS status, reported_at AS timestamp,
    NULL::jsonb AS errors, 2 AS rank
  FROM message WHERE rank = 1 AND reported <> 'failed'
UNION ALL
  SELECT channel_id, n, 1, key_id, id, chat_id, in_group, viewer_id, status, timestamp, errors, rank
  FROM (
    SELECT *, max(rank) OVER (PARTITION BY channel_id, key_id, viewer_id ORDER BY n
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank_in_reports
    FROM judged
  ) j
  WHERE CASE
    WHEN status = 'sent' THEN false
    WHEN status <> 'failed' THEN message_rank IS NOT NULL AND rank > greatest(viewer_rank, rank_in_reports)
    WHEN of_message THEN coalesce(message_status, 'pending') = 'pending'
    ELSE coalesce(message_status, '') NOT IN ('failed', 'deleted') AND viewer_rank < 3 AND NOT failed_before
  END) s
), changed AS (
  INSERT INTO messages (channel_id, id, chat_id, key_id, key_remote, from_me, type, source, timestamp, content, status)
  SELECT channel_id, m.id, m.chat_id, key_id, m.key_remote, m.from_me, m.type, m.source, m.timestamp, m.content,
    CASE WHEN top.failed THEN 'failed' ELSE (ARRAY['pending', 'sent', 'delivered', 'read', 'played'])[greatest(m.rank, top.rank)] END
  FROM message m JOIN (
    SELECT channel_id, key_id, max(rank) AS rank, bool_or(status = 'failed' AND (viewer_id = '' OR NOT in_group)) AS failed
    FROM step GROUP BY channel_id, key_id
  ) top USING (channel_id, key_id)
  ON CONFLICT (channel_id, id) DO UPDATE SET status = excluded.status
), receipt AS (
  INSERT INTO receipts (channel_id, key_id, viewer_id, status, timestamp, errors)
  SELECT channel_id, key_id, viewer_id, status, timestamp, errors FROM step 
  UNION ALL
  SELECT channel_id, key_id, coalesce(viewer_id, ''), status, timestamp, errors FROM report
  WHERE (channel_id, key_id) NOT IN (SELECT channel_id, key_id FROM message)
  ON CONFLICT DO NOTHING
), taken AS (
  SELECT channel_id, max(from_end) AS steps FROM step GROUP BY channel_id
), seq AS (
  INSERT INTO event_sequences (channel_id, last_seq) SELECT channel_id, steps FROM taken
  ON CONFLICT (channel_id) DO UPDATE SET last_seq = event_sequences.last_seq + excluded.last_seq
  RETURNING channel_id, last_seq
), event AS (
  INSERT INTO events (channel_id, seq, id, type, method, payload, conversation, webhook_id)
SELECT channel_id, seq, coalesce(id, gen_random_uuid()), type, method, payload, conversation, webhook_id
FROM (SELECT channel_id, seq.last_seq - step.from_end + 1, NULL::uuid, 'statuses', 'post',
    jsonb_build_object('statuses', jsonb_build_array(json_strip_nulls(json_build_object('id', step.id,
    'code', '{"failed":0,"pending":1,"sent":2,"delivered":3,"read":4,"played":5,"deleted":6}'::jsonb -> step.status, 'status', step.status, 'recipient_id', step.chat_id,
    'viewer_id', CASE WHEN step.in_group THEN nullif(step.viewer_id, '') END, 'timestamp', step.timestamp::text, 'errors', step.errors)))), NULL, NULL FROM step JOIN seq USING (channel_id)) AS given(channel_id, seq, id, type, method, payload, conversation, webhook_id)
)
SELECT channel_id, fence.shard IS NOT NULL AS fenced, locked.channel_id IS NOT NULL AS locked, message.key_id,
  seq.last_seq AS last, taken.steps
FROM given LEFT JOIN fence USING (shard, epoch) LEFT JOIN locked USING (channel_id) LEFT JOIN message USING (channel_id)
  LEFT JOIN taken USING (channel_id) LEFT JOIN seq USING (channel_id);

-- regional: statuses-of-message
SELECT step.from_me, CASE WHEN step.status IS NOT NULL THEN json_strip_nulls(json_build_object('id', step.id,
    'code', '{"failed":0,"pending":1,"sent":2,"delivered":3,"read":4,"played":5,"deleted":6}'::jsonb -> step.status, 'status', step.status, 'recipient_id', step.chat_id,
    'viewer_id', CASE WHEN step.viewer_id <> '' THEN step.viewer_id
  WHEN array_position(ARRAY['pending', 'sent', 'delivered', 'read', 'played'], step.status) >= 3 AND step.chat_id NOT LIKE '%@g.us' THEN CASE WHEN step.chat_id LIKE '%@s.whatsapp.net' THEN split_part(step.chat_id, '@', 1) ELSE step.chat_id END END, 'timestamp', step.timestamp::text, 'errors', step.errors)) END AS entry
         FROM (
           SELECT m.id, m.chat_id, m.from_me, r.viewer_id, r.status, r.timestamp, r.errors FROM messages m
           LEFT JOIN receipts r ON r.channel_id = m.channel_id AND r.key_id = m.key_id AND m.from_me
           WHERE m.channel_id = $1 AND m.id = $2
         ) step
         ORDER BY array_position(ARRAY['pending', 'sent', 'failed', 'delivered', 'read', 'played', 'deleted'], step.status), step.timestamp, step.viewer_id;

-- regional: store-groups
INSERT INTO groups (channel_id, id, member, stale, version, facts, members)
SELECT $1, r.id, r.member, r.stale, r.version, r.facts, r.members
FROM jsonb_to_recordset($2::jsonb) AS r(id text, member boolean, stale boolean, version bigint, facts jsonb,
  members jsonb)
ON CONFLICT (channel_id, id) DO UPDATE SET member = excluded.member, stale = excluded.stale,
  version = excluded.version, facts = excluded.facts, members = excluded.members;

-- regional: store-number
INSERT INTO stored_numbers (channel_id, phone) VALUES ($1, $2)
         ON CONFLICT (channel_id) DO UPDATE SET phone = excluded.phone;

-- regional: stored-number
SELECT phone FROM stored_numbers WHERE channel_id = $1;

-- regional: strangers
SELECT DISTINCT p.lid, p.phone FROM jsonb_to_recordset($2::jsonb) AS p(lid text, phone text)
             WHERE EXISTS (SELECT FROM chats WHERE channel_id = $1 AND id = p.lid || '@lid')
               OR EXISTS (SELECT FROM contacts WHERE channel_id = $1 AND id = p.lid || '@lid')
               OR EXISTS (SELECT FROM messages WHERE channel_id = $1 AND author = p.lid || '@lid')
               OR NOT EXISTS (SELECT FROM contacts WHERE channel_id = $1 AND id = p.phone AND lid = p.lid);

-- regional: stuck-channels
SELECT id, account_id, shard, session_state, session_reason, linked, wake_at,
  extract(epoch FROM now() - session_since)::float8 AS for_s, count(*) OVER ()::int AS total FROM channels
         WHERE deleted_at IS NULL AND session_state = ANY ($1) AND session_since < now() - $2::int * interval '1 second'
         ORDER BY session_since, id LIMIT $3;

-- regional: stuck-dead-letters
SELECT channel_id, webhook_id, count(*)::int AS dead_letters, count(*) OVER ()::int AS total,
                extract(epoch FROM now() - min(died_at))::float8 AS oldest_age_s
         FROM dead_letters GROUP BY channel_id, webhook_id ORDER BY min(died_at), channel_id LIMIT $1;

-- regional: stuck-shards
SELECT shard, extract(epoch FROM now() - expires_at)::float8 AS for_s, count(*) OVER ()::int AS total
         FROM shard_leases WHERE owner_id IS NULL OR expires_at <= now() ORDER BY expires_at, shard LIMIT $1;

-- regional: sweep-idempotency-keys
DELETE FROM idempotency_keys WHERE (channel_id, key) IN (
           SELECT channel_id, key FROM idempotency_keys
           WHERE created_at < now() - interval '24 hours' LIMIT 5000);

-- regional: unconfirmed-send
SELECT key_id FROM receipts WHERE channel_id = $1 AND key_id = $2 AND viewer_id = '' AND status = 'failed'
         AND errors @> $3::jsonb;

-- regional: under-another-master-key
SELECT c.id, c.shard FROM channels c
           WHERE c.shard = ANY($1) AND c.id > $2 AND (EXISTS (SELECT 1 FROM channel_keys k WHERE k.channel_id = c.id AND k.master_key_id <> $3) OR EXISTS (
             SELECT 1 FROM jsonb_array_elements(c.snapshots) s WHERE s ->> 'masterKeyId' <> $3 AND NOT s ? 'damaged'
           ) OR ($5::text IS NOT NULL AND ((c.settings_key_id IS DISTINCT FROM $5 AND c.settings <> '{}'::jsonb) OR EXISTS (
    SELECT 1 FROM webhook_secrets w WHERE w.channel_id = c.id AND w.key_id IS DISTINCT FROM $5)))) ORDER BY c.id LIMIT $4;

-- regional: unlinked-numbers
SELECT id, account_id, name, session_since FROM channels
         WHERE session_reason = 'unlinked' AND NOT linked AND deleted_at IS NULL
           AND session_since > now() - $1::int * interval '1 second' AND id > $2
         ORDER BY id LIMIT $3;

-- regional: wakes-by-minute
SELECT minute, up_to_ms, sum(wakes)::int AS wakes, max(max_ms)::int AS max_ms FROM wake_latencies
         WHERE minute > now() - $1::int * interval '1 minute' GROUP BY minute, up_to_ms ORDER BY minute, up_to_ms;

-- regional: wanted-pictures
SELECT wanted.id FROM (
  SELECT CASE WHEN c.id LIKE '%@lid' THEN c.id ELSE c.id || '@s.whatsapp.net' END AS id FROM contacts c WHERE c.channel_id = $1
    AND (c.pictures_asked_at < $2 OR c.pictures_asked_at IS NULL AND coalesce(c.picture, '') = '')
  UNION ALL
  SELECT g.id FROM groups g WHERE g.channel_id = $1 AND g.member
    AND (g.pictures_asked_at < $2 OR g.pictures_asked_at IS NULL)
) wanted LEFT JOIN chats ON chats.channel_id = $1 AND chats.id = wanted.id
ORDER BY coalesce(chats.timestamp, 0) DESC, wanted.id LIMIT $3;

-- regional: webhook-deliveries
SELECT id, event_id, seq, type, method, attempt, outcome, status, error, took_ms, answer, at
         FROM webhook_attempts
         WHERE channel_id = $1 AND webhook_id = $2 AND ($3::bigint IS NULL OR id < $3) ORDER BY id DESC LIMIT $4;

-- regional: webhook-secrets
SELECT secret, created_at, expires_at FROM webhook_secrets
  WHERE channel_id = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY created_at DESC;

-- regional: webhook-settings
SELECT settings, ARRAY(SELECT secret FROM webhook_secrets
  WHERE channel_id = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY created_at DESC) AS secrets
         FROM channels WHERE id = $1 AND deleted_at IS NULL;

-- regional: webhook-state
SELECT least(c.position, h.first_held - 1) AS position, c.attempts, c.last_status, c.last_error,
           c.next_attempt_at, c.redirects_to, b.backlog, coalesce(b.oldest_age_s, 0)::float8 AS oldest_age_s,
           h.held, h.set_aside,
           (SELECT count(*) FROM dead_letters WHERE channel_id = $1 AND webhook_id = $2) AS dead
         FROM webhook_cursors c, LATERAL (
           SELECT count(*) FILTER (WHERE set_aside_at IS NULL) AS held, count(set_aside_at) AS set_aside,
             min(seq) FILTER (WHERE set_aside_at IS NULL) AS first_held
           FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2) h, LATERAL (
           SELECT count(*) AS backlog, extract(epoch FROM clock_timestamp() - min(e.created_at)) AS oldest_age_s
           FROM events e WHERE e.channel_id = $1 AND (e.webhook_id = $2
    OR (e.webhook_id IS NULL AND (e.type || '.' || e.method) = ANY ($3::text[])))
             AND (e.seq > c.position OR (h.held + h.set_aside > 0 AND e.seq IN (
               SELECT seq FROM webhook_held_events WHERE channel_id = $1 AND webhook_id = $2)))
             AND ($4::float8 IS NULL OR e.created_at > clock_timestamp() - $4 * interval '1 s')) b
         WHERE c.channel_id = $1 AND c.webhook_id = $2;

-- regional: webhooks-failing-long
SELECT c.channel_id, c.webhook_id, c.last_error, coalesce(c.accepted_at, c.since) AS quiet_since,
                greatest(coalesce(c.accepted_at, c.since), oldest.created_at) AS failing_since
         FROM webhook_cursors c, LATERAL (
  SELECT count(*) AS events, min(seq) AS first FROM webhook_held_events h
  WHERE c.has_held AND h.channel_id = c.channel_id AND h.webhook_id = c.webhook_id) AS held LEFT JOIN LATERAL (
  SELECT created_at FROM events e WHERE e.channel_id = c.channel_id
    AND (e.seq > c.position OR e.seq = held.first) ORDER BY e.seq LIMIT 1) AS oldest ON true
         WHERE c.attempts > 0 AND c.next_attempt_at IS NOT NULL
           AND coalesce(c.accepted_at, c.since) <= now() - $1::int * interval '1 second'
           AND oldest.created_at <= now() - $1::int * interval '1 second'
           AND oldest.created_at > now() - ($1::int + $2::int) * interval '1 second'
           AND (c.channel_id, c.webhook_id) > ($3, $4)
         ORDER BY c.channel_id, c.webhook_id LIMIT $5;

-- regional: wipe-auth
WITH fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE),
  creds AS (DELETE FROM auth_creds USING fence WHERE channel_id = $3),
  keys AS (DELETE FROM auth_keys USING fence WHERE channel_id = $3),
  data_key AS (DELETE FROM channel_keys USING fence WHERE channel_id = $3)
SELECT count(*)::int AS fenced FROM fence;

-- regional: write-auth-keys
WITH fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE), given AS (
  SELECT * FROM unnest($4::text[], $5::text[], $6::bytea[]) AS given(type, id, sealed)
), written AS (
  INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
  SELECT $3, type, id, sealed, $2::int8 FROM given, fence WHERE sealed IS NOT NULL
  ON CONFLICT (channel_id, type, id) DO UPDATE SET sealed = EXCLUDED.sealed, epoch = EXCLUDED.epoch
), removed AS (
  DELETE FROM auth_keys k USING given, fence
  WHERE k.channel_id = $3 AND k.type = given.type AND k.id = given.id AND given.sealed IS NULL
)
SELECT count(*)::int AS fenced FROM fence;

-- regional: write-auth-keys-of-many
WITH given AS (
  SELECT * FROM unnest($1::int[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::bytea[])
    AS given(shard, epoch, channel_id, type, id, sealed)
), fence AS (
  SELECT held.shard, held.epoch FROM (SELECT DISTINCT shard, epoch FROM given) held, LATERAL (
    SELECT 1 FROM shard_leases WHERE shard = held.shard AND epoch = held.epoch FOR KEY SHARE
  ) lease
), written AS (
  INSERT INTO auth_keys (channel_id, type, id, sealed, epoch)
  SELECT channel_id, type, id, sealed, epoch FROM given JOIN fence USING (shard, epoch)
  ON CONFLICT (channel_id, type, id) DO UPDATE SET sealed = EXCLUDED.sealed, epoch = EXCLUDED.epoch
)
SELECT shard, epoch FROM fence;

-- regional: write-chats
WITH r AS (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS r(id text, type text, name text, timestamp bigint, unread int,
    "readUntilS" bigint, "markedUnread" boolean, pinned boolean, archived boolean, "muteUntilMs" bigint, timer jsonb)
), changed AS (
  UPDATE chats SET
    name = coalesce(r.name, chats.name),
    timestamp = greatest(r.timestamp, chats.timestamp),
    unread = CASE WHEN r."markedUnread" THEN greatest(r.unread, chats.unread, 1)
      WHEN r."readUntilS" IS NOT NULL THEN least(chats.unread, (
        SELECT count(*)::int FROM messages later
        WHERE later.channel_id = $1 AND later.chat_id = r.id AND NOT later.from_me
          AND later.type NOT IN ('action', 'system') AND later.timestamp > r."readUntilS"))
      ELSE coalesce(r.unread, chats.unread) END,
    pinned = coalesce(r.pinned, chats.pinned),
    archived = coalesce(r.archived, chats.archived),
    mute_until_ms = coalesce(r."muteUntilMs", chats.mute_until_ms),
    ephemeral_s = CASE WHEN (r.timer->>'setAtS')::bigint >= coalesce(chats.ephemeral_at, 0) THEN (r.timer->>'seconds')::int ELSE chats.ephemeral_s END,
    ephemeral_at = CASE WHEN (r.timer->>'setAtS')::bigint >= coalesce(chats.ephemeral_at, 0) THEN (r.timer->>'setAtS')::bigint ELSE chats.ephemeral_at END
  FROM r WHERE chats.channel_id = $1 AND chats.id = r.id
  RETURNING chats.id
)
INSERT INTO chats (channel_id, id, type, name, timestamp, unread, pinned, archived, mute_until_ms,
  ephemeral_s, ephemeral_at)
SELECT $1, r.id, r.type, r.name, coalesce(r.timestamp, 0),
  CASE WHEN r."markedUnread" THEN greatest(r.unread, 1) ELSE coalesce(r.unread, 0) END, coalesce(r.pinned, false),
  coalesce(r.archived, false), coalesce(r."muteUntilMs", 0),
  (r.timer->>'seconds')::int, (r.timer->>'setAtS')::bigint
FROM r WHERE r.id NOT IN (SELECT id FROM changed);

-- regional: write-contacts
INSERT INTO contacts AS known (channel_id, id, name, push_name, lid, business, about, picture, picture_full)
SELECT $1, c.id, c.name, c."pushName", c.lid, coalesce(c.business, false), c.about, c.picture,
  c."pictureFull"
FROM jsonb_to_recordset($2::jsonb) AS c(id text, name text, "pushName" text, lid text, business boolean, about text,
  picture text, "pictureFull" text)
ORDER BY c.id
ON CONFLICT (channel_id, id) DO UPDATE SET
  name = coalesce(excluded.name, known.name),
  push_name = coalesce(excluded.push_name, known.push_name),
  lid = coalesce(excluded.lid, known.lid),
  business = known.business OR excluded.business,
  about = coalesce(excluded.about, known.about),
  picture = coalesce(excluded.picture, known.picture),
  picture_full = coalesce(excluded.picture_full, known.picture_full);

-- regional: write-creds
WITH fence AS (SELECT 1 FROM shard_leases WHERE shard = $1 AND epoch = $2 FOR KEY SHARE), written AS (
  INSERT INTO auth_creds (channel_id, sealed, epoch) SELECT $3, $4, $2::int8 FROM fence
  ON CONFLICT (channel_id) DO UPDATE SET sealed = EXCLUDED.sealed, epoch = EXCLUDED.epoch, updated_at = now()
)
SELECT count(*)::int AS fenced FROM fence;

-- regional: younger-than
SELECT EXISTS (SELECT FROM messages WHERE channel_id = $1 AND chat_id = $2 AND timestamp > $3) AS younger;

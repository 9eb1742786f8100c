/**
 * The end of an account, in steps.
 *
 * Guarantees: `begin` is one transaction; after it no key and no session has access to the account, and no channel is created in it.
 * The rest happens in this order, each step as often as it takes, at whatever control plane: its channels are deleted; once all are
 * deleted in their regions too, its subscription is cancelled; names, settings and numbers of its channels are erased in their regions;
 * then, in one transaction, names and addresses are erased: members,
 * invitations, keys, names of account and channels, those users who are in no other account, and names in the audit log, which
 * itself stays. A process that dies between any two statements leaves what the next run goes on with.
 *
 * While a region is away its channels, and with them the later steps, wait; one that is not configured any more is left alone, with
 * a warning. While billing or Stripe is away the subscription and the erasure wait. Without the global database nothing happens. With
 * Redis away the steps are begun, and what they leave waits: the runs that repeat them are jobs (ending-jobs.ts).
 */
import { anonymizeAudit, anonymizeAuditOfUser, appendAudit } from '@dormouse/audit-log';
import { newRequestId, type Logger } from '@dormouse/bootstrap';
import { defineStatement, transaction, type GlobalDatabase, type Queryable } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import { accountNotFound, lockAccount } from '../accounts/accounts.js';
import type { Cause } from '../accounts/cause.js';
import { eraseDeletedChannels } from '@dormouse/channel-directory';
import type { ChannelEntries } from '../channels/channel-entries.js';
import type { Channels } from '../channels/channels.js';
import { RegionAwayError, type Regions } from '../regions/regions.js';

/** Cancels the subscription of an account. Repeating it has the same result. @throws while billing or Stripe is away */
export type EndBilling = (accountId: string, cause: Cause) => Promise<void>;

export interface EndedAccountsParts {
  database: GlobalDatabase;
  entries: ChannelEntries;
  channels: Channels;
  regions: Pick<Regions, 'link'>;
  /** Absent: there is no billing. */
  endBilling?: EndBilling | undefined;
  log: Logger;
}

const SYSTEM: Cause = { actor: { kind: 'system', id: 'control-plane' } };
const BATCH = 100;

const BEGIN = defineStatement({
  name: 'begin-end-of-account',
  scope: 'global',
  text: 'UPDATE accounts SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL',
  parameters: ['text'],
});

const UNFINISHED = defineStatement({
  name: 'unfinished-ends-of-accounts',
  scope: 'global',
  text: `SELECT id FROM accounts WHERE deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at LIMIT $1`,
  parameters: ['int8'],
  row: { id: 'text' },
});

const LIVE_CHANNELS = defineStatement({
  name: 'channels-of-ended-account',
  scope: 'global',
  text: `SELECT id FROM channels WHERE account_id = $1 AND deleted_at IS NULL AND unsettled_since IS NULL LIMIT $2`,
  parameters: ['text', 'int8'],
  row: { id: 'text' },
});

const CHANNELS_LEFT = defineStatement({
  name: 'channels-left-of-ended-account',
  scope: 'global',
  text: `SELECT count(*)::int4 AS channels FROM channels
         WHERE account_id = $1 AND (deleted_at IS NULL OR unsettled_since IS NOT NULL)`,
  parameters: ['text'],
  row: { channels: 'int4?' },
});

const REGIONS_OF = defineStatement({
  name: 'regions-of-ended-account',
  scope: 'global',
  text: 'SELECT DISTINCT region FROM channels WHERE account_id = $1 ORDER BY region',
  parameters: ['text'],
  row: { region: 'text' },
});

const LOCK_ENDED = defineStatement({
  name: 'lock-ended-account',
  scope: 'global',
  text: 'SELECT id FROM accounts WHERE id = $1 AND deleted_at IS NOT NULL AND erased_at IS NULL FOR UPDATE',
  parameters: ['text'],
  row: { id: 'text' },
});

const USERS_LEFT_ALONE = defineStatement({
  name: 'users-of-ended-account-alone',
  scope: 'global',
  text: `SELECT u.id FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.account_id = $1 AND NOT u.is_operator
           AND NOT EXISTS (SELECT 1 FROM memberships other WHERE other.user_id = u.id AND other.account_id <> $1)
         FOR UPDATE OF u`,
  parameters: ['text'],
  row: { id: 'text' },
});

const ERASE_ACCOUNT = defineStatement({
  name: 'erase-account',
  scope: 'global',
  text: `UPDATE accounts SET name = '', erased_at = now() WHERE id = $1`,
  parameters: ['text'],
});

const ERASE_PARTS = [
  defineStatement({
    name: 'erase-members',
    scope: 'global',
    text: 'DELETE FROM memberships WHERE account_id = $1',
    parameters: ['text'],
  }),
  defineStatement({
    name: 'erase-invitations',
    scope: 'global',
    text: 'DELETE FROM invitations WHERE account_id = $1',
    parameters: ['text'],
  }),
  defineStatement({
    name: 'erase-account-keys',
    scope: 'global',
    text: 'DELETE FROM account_keys WHERE account_id = $1',
    parameters: ['text'],
  }),
  defineStatement({
    name: 'erase-channel-names',
    scope: 'global',
    text: `UPDATE channels SET name = '' WHERE account_id = $1`,
    parameters: ['text'],
  }),
] as const;

const ERASE_USER = defineStatement({
  name: 'erase-user',
  scope: 'global',
  // Again: the user may have become a member elsewhere before the row was locked.
  text: 'DELETE FROM users u WHERE u.id = $1 AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id)',
  parameters: ['text'],
});

export class EndedAccounts {
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly parts: EndedAccountsParts) {}

  /**
   * Ends an account: from here on nothing has access to it. The steps that follow are begun at once, and not waited for.
   * @param name the account's, as typed by the user who ends it
   * @throws {GatewayError} 400 for another name, 404
   */
  async begin(accountId: string, name: string, cause: Cause): Promise<void> {
    await transaction(this.parts.database, async (connection) => {
      const account = await lockAccount(connection, accountId);
      if (!account) throw accountNotFound();
      if (account.name !== name) {
        throw new GatewayError(400, {
          details: 'name: must be the name of the account, exactly as GET /account has it',
        });
      }
      await BEGIN.count(connection, accountId);
      const object = { kind: 'account', id: accountId };
      await appendAudit(connection, { ...cause, accountId, object, action: 'account.end' });
    });
    void this.run();
  }

  /** Ends with the run that is under way. */
  async stop(): Promise<void> {
    await this.#running;
  }

  /** One run over the accounts whose end is not complete. Never throws: what fails is tried again at the next run. */
  async settle(): Promise<void> {
    try {
      for (const { id } of await UNFINISHED.all(this.parts.database.pool, BATCH)) await this.#tryToFinish(id);
    } catch (error) {
      this.parts.log.warn({ err: error }, 'looking for accounts that end failed; it is tried again');
    }
  }

  /** A run after the one that is under way, if there is one: that may have looked before the newest end. */
  run(): Promise<void> {
    this.#running = this.#running.then(() => this.settle());
    return this.#running;
  }

  async #tryToFinish(accountId: string): Promise<void> {
    try {
      await this.#finish(accountId);
    } catch (error) {
      this.parts.log.warn({ err: error, accountId }, 'ending an account failed; it is tried again');
    }
  }

  async #finish(accountId: string): Promise<void> {
    const { database, endBilling, log } = this.parts;
    await this.#deleteChannels(accountId);
    const left = (await CHANNELS_LEFT.first(database.pool, accountId))?.channels ?? 0;
    if (left > 0) return void log.info({ accountId, left }, 'the end of an account waits for its channels');
    await endBilling?.(accountId, SYSTEM);
    await this.#eraseInRegions(accountId);
    if (await transaction(database, (connection) => erase(connection, accountId))) {
      log.info({ accountId }, 'an account has ended');
    }
  }

  /** @throws {RegionAwayError} */
  async #eraseInRegions(accountId: string): Promise<void> {
    const { database, regions, log } = this.parts;
    for (const { region } of await REGIONS_OF.all(database.pool, accountId)) {
      const link = regions.link(region);
      if (link) await link.run((_directory, { pool }) => eraseDeletedChannels(pool, accountId));
      else
        log.warn({ accountId, region }, 'channels of an ended account are in a region that is not configured any more');
    }
  }

  /** What a region that is away does not delete now is completed by `UnsettledChannels`. */
  async #deleteChannels(accountId: string): Promise<void> {
    const { database, entries, channels } = this.parts;
    const away = new Set<string>();
    for (;;) {
      const live = await LIVE_CHANNELS.all(database.pool, accountId, BATCH);
      if (live.length === 0) return;
      for (const { id } of live) {
        const entry = await entries.beginDeletion(accountId, id, SYSTEM);
        if (!entry || away.has(entry.region)) continue;
        await channels.finishDeletion(entry, newRequestId()).catch((error: unknown) => {
          if (!(error instanceof RegionAwayError)) throw error;
          away.add(entry.region);
        });
      }
    }
  }
}

/** @returns false when it was done meanwhile */
async function erase(connection: Queryable, accountId: string): Promise<boolean> {
  if (!(await LOCK_ENDED.first(connection, accountId))) return false;
  const users = await USERS_LEFT_ALONE.all(connection, accountId);
  for (const part of ERASE_PARTS) await part.count(connection, accountId);
  await anonymizeAudit(connection, accountId);
  for (const { id } of users) {
    if ((await ERASE_USER.count(connection, id)) === 1) await anonymizeAuditOfUser(connection, id);
  }
  await ERASE_ACCOUNT.count(connection, accountId);
  return true;
}

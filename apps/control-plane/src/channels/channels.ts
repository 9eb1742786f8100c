/**
 * A channel is stored in two databases: the global entry (its account and region) and the regional record (the rest).
 *
 * Guarantees: customers see a channel only when both halves are stored, and a deletion that was answered with success
 * has reached both. Each change first writes the global row, marked unsettled, and ends by settling it:
 * - create: entry (unsettled, not visible), regional record with the token's hash, settle, answer. If it fails or the
 *   process dies before the entry is settled, the token was never returned: the channel is given up and its regional half
 *   deleted, by the request itself or by `RegionDeliveries`.
 * - delete: entry marked deleted (no longer visible), regional record marked deleted (the token is refused, within a
 *   second also by edges that cached it), settle. With the region away the answer is 503, the deletion stays unsettled, and
 *   the next DELETE or `RegionDeliveries` completes it. The worker gets a command, but the deletion does not depend on it:
 *   workers find deleted channels in their directory.
 * - token: the hash of the new one with the global entry, then the regional record, then the hash is removed from the entry.
 * With the region away the answer is 202 with the token: `RegionDeliveries` brings it there, and it holds from then on.
 * While a region is away, only creating, deleting and changing its channels fails, with 503.
 */
import { newRequestId, type Logger } from '@dormouse/bootstrap';
import {
  channelOverviews,
  channelsOfPhone,
  type ChannelDirectory,
  type ChannelOverview,
} from '@dormouse/channel-directory';
import { hashToken, mintToken } from '@dormouse/channel-token';
import type { GlobalDatabase } from '@dormouse/database';
import { GatewayError, type Region } from '@dormouse/gateway-contract';
import type {
  ChannelDeleted,
  ChannelList,
  ChannelLoggedOut,
  ChannelRetention,
  ChannelSleep,
  ChannelWithToken,
  CreateChannelBody,
  ListChannelsQuery,
  ManagedChannel,
  RenameChannelBody,
  TokenRotated,
} from '@dormouse/management-contract';
import type { Cause } from '../accounts/cause.js';
import { recorded } from '../audit/recorded.js';
import { RegionAwayError, type RegionLink, type Regions } from '../regions/regions.js';
import { about, type ChannelEntries, type ChannelEntryRow, type CreationLimits } from './channel-entries.js';
import { requireFewUnlinked } from './never-linked.js';
import { shownChannel, toOverride } from './shown-channel.js';
import type { TokenRotations } from './token-rotations.js';

/** Timeout of the query for a channel's present status. */
const STATUS_TIMEOUT_MS = 2_000;
/** How long a request to log out waits for the channel's worker. */
const LOGOUT_STARTS_WITHIN_MS = 5_000;
/** Most channels of a region that a search by number finds. */
const MOST_BY_PHONE = 500;
const RETRY_AFTER_S = 5;

export interface ChannelLimits extends CreationLimits {
  /** Channels that may exist without ever having been linked, where the account has no limit of its own; 0: no limit. */
  neverLinkedChannels: number;
}

export interface ChannelsParts {
  entries: ChannelEntries;
  rotations: TokenRotations;
  regions: Regions;
  log: Logger;
  database: GlobalDatabase;
  limits: ChannelLimits;
}

export class Channels {
  constructor(private readonly parts: ChannelsParts) {}

  /**
   * Creates a channel with a token of its own.
   * @throws {GatewayError} 400 for an unknown region, 403 and 429 beyond the account's limits, 503 if the region is away
   */
  async create(accountId: string, body: CreateChannelBody, cause: Cause): Promise<ChannelWithToken> {
    const link = this.#linkFor(body.region);
    await requireFewUnlinked(this.parts.database, this.parts.regions, accountId, this.parts.limits.neverLinkedChannels);
    const entry = await this.parts.entries.begin(
      { accountId, region: link.region, name: body.name },
      this.parts.limits,
    );
    const token = mintToken(link.region);
    try {
      const overview = await link.run(async (directory, { pool }) => {
        const shard = await pickShard(directory);
        const { id, name } = entry;
        await directory.create({ id, accountId, name, tokenHash: hashToken(token), shard });
        return (await channelOverviews(pool, [id])).get(id);
      });
      if (!(await this.parts.entries.settleCreation(entry.id, cause)))
        throw new Error('given up meanwhile: it took too long');
      return { channel: shownChannel(entry, overview), token };
    } catch (error) {
      await this.#giveUp(entry);
      throw error instanceof RegionAwayError ? regionAway(error, 'nothing was created') : error;
    }
  }

  /**
   * A page of the account's channels with their present status. Each region is queried once, and may take two seconds: after them
   * the status of its channels is `unknown`.
   */
  async list(accountId: string, { search = '', count, offset }: ListChannelsQuery): Promise<ChannelList> {
    const ofPhone = await this.#idsOfPhone(accountId, search);
    const { entries, total } = await this.parts.entries.list(accountId, { count, offset, search, orIn: ofPhone });
    const regions = [...new Set(entries.map(({ region }) => region))];
    const overviews = new Map(
      await Promise.all(
        regions.map(async (region) => {
          const ids = entries.filter((entry) => entry.region === region).map(({ id }) => id);
          return [region, await this.#overviewsOf(region, ids)] as const;
        }),
      ),
    );
    const channels = entries.map((entry) => shownChannel(entry, overviews.get(entry.region)?.get(entry.id)));
    return { channels, count, total, offset };
  }

  /** The channel with its present status, which is `unknown` while its region does not answer. @throws 404 */
  async get(accountId: string, id: string): Promise<ManagedChannel> {
    const entry = await this.#find(accountId, id);
    return shownChannel(entry, (await this.#overviewsOf(entry.region, [id]))?.get(id));
  }

  /** Replaces the display name. @throws 404; 503 when the region is away, and then the name stays */
  async rename(accountId: string, id: string, { name }: RenameChannelBody, cause: Cause): Promise<ManagedChannel> {
    const entry = await this.#find(accountId, id);
    const overview = await this.#change(entry, 'channel.rename', cause, {
      work: (directory) => directory.rename(id, name),
      whenAway: 'the name was not changed: try again',
    });
    await this.parts.entries.rename(id, name);
    return shownChannel({ ...entry, name }, overview);
  }

  /**
   * Logs the number out through its worker.
   * @param gaveUp aborted when nobody waits for the answer any more: unless a worker has begun, the number stays linked
   * @throws 404; 503 when no worker or no region answers, and then it stays linked
   */
  async logOut(accountId: string, id: string, cause: Cause, gaveUp?: AbortSignal): Promise<ChannelLoggedOut> {
    const entry = await this.#find(accountId, id);
    const requestId = cause.requestId ?? newRequestId();
    return recorded(this.parts.database, { ...cause, ...about(accountId, id), action: 'channel.log-out' }, async () => {
      const link = this.#linkOf(entry);
      const record = await link
        .run((directory) => directory.byId(id), STATUS_TIMEOUT_MS)
        .catch((error: unknown) => {
          throw regionAway(error, 'the number was not logged out: try again');
        });
      if (!record || record.deleted) throw channelNotFound();
      if (!record.session.linked && record.session.state === 'closed') return { success: true };
      const options = { requestId, startWithinMs: LOGOUT_STARTS_WITHIN_MS, gaveUp };
      return link.command(record, 'channel.logout', {}, options);
    });
  }

  /**
   * Replaces the token. With the region away it is stored that it is replaced: the new token is valid, and the old one is not,
   * within two seconds of the moment at which the region can be reached again.
   * @throws 404
   */
  async rotateToken(accountId: string, id: string, cause: Cause): Promise<TokenRotated> {
    const found = await this.#find(accountId, id);
    const token = mintToken(found.region);
    const begun = await this.parts.rotations.begin(accountId, id, hashToken(token), cause);
    if (!begun) throw channelNotFound();
    const { entry, rotation } = begun;
    try {
      const overview = await this.#linkOf(entry).run(async (directory, { pool }) =>
        (await this.parts.rotations.finish(directory, rotation))
          ? (await channelOverviews(pool, [id])).get(id)
          : undefined,
      );
      if (!overview) throw channelNotFound();
      return { channel: shownChannel(entry, overview), token, takes_effect: 'now' };
    } catch (error) {
      if (!(error instanceof RegionAwayError)) throw error;
      return { channel: shownChannel(entry, undefined), token, takes_effect: 'when_the_region_answers' };
    }
  }

  /** Sets when the channel's number sleeps. @throws 404; 503 when the region is away */
  async setSleep(accountId: string, id: string, sleep: ChannelSleep, cause: Cause): Promise<ManagedChannel> {
    const entry = await this.#find(accountId, id);
    const override = toOverride(sleep);
    const overview = await this.#change(entry, 'channel.set-sleep', cause, {
      work: (directory) => directory.setSleep(id, override),
      whenAway: 'try again',
    });
    return shownChannel(entry, overview);
  }

  /** Sets for how long the channel's messages are stored. @throws 404; 503 when the region is away */
  async setRetention(accountId: string, id: string, { days }: ChannelRetention, cause: Cause): Promise<ManagedChannel> {
    const entry = await this.#find(accountId, id);
    const overview = await this.#change(entry, 'channel.set-retention', cause, {
      work: (directory) => directory.setRetention(id, days ?? null),
      whenAway: 'nothing was changed: try again',
    });
    return shownChannel(entry, overview);
  }

  /** Deletes a channel. After a 503, repeating it continues the deletion. @throws 404; 503 when the region is away */
  async delete(accountId: string, id: string, cause: Cause): Promise<ChannelDeleted> {
    const entry = await this.parts.entries.beginDeletion(accountId, id, cause);
    if (!entry) throw channelNotFound();
    try {
      return { success: true, unlinked: await this.finishDeletion(entry, cause.requestId ?? newRequestId()) };
    } catch (error) {
      if (!(error instanceof RegionAwayError)) throw error;
      throw regionAway(error, 'the deletion has started and is completed when the region is back');
    }
  }

  /**
   * Deletes the regional half of a channel whose entry is marked deleted, settles it and has the worker end the session.
   * Idempotent. @returns whether a worker has ended the session @throws {RegionAwayError}
   */
  async finishDeletion(entry: ChannelEntryRow, requestId: string): Promise<boolean> {
    const link = this.#linkOf(entry);
    const record = await link.run(async (directory) => {
      await directory.markDeleted(entry.id);
      return directory.byId(entry.id);
    });
    await this.parts.entries.settleDeletion(entry.id);
    if (!record) return true; // it had no regional half, so no session either
    return link.endSession(record, requestId);
  }

  /** Changes the regional half of a channel. @throws {GatewayError} 404; 503 when the region is away */
  async #change(
    entry: ChannelEntryRow,
    action: string,
    cause: Cause,
    { work, whenAway }: { work: (directory: ChannelDirectory) => Promise<boolean>; whenAway: string },
  ): Promise<ChannelOverview> {
    return recorded(this.parts.database, { ...cause, ...about(entry.accountId, entry.id), action }, async () => {
      const overview = await this.#linkOf(entry)
        .run(async (directory, { pool }) =>
          (await work(directory)) ? (await channelOverviews(pool, [entry.id])).get(entry.id) : undefined,
        )
        .catch((error: unknown) => {
          throw regionAway(error, whenAway);
        });
      if (!overview) throw channelNotFound();
      return overview;
    });
  }

  /** Undefined while the region does not answer. */
  async #overviewsOf(region: Region, ids: readonly string[]): Promise<Map<string, ChannelOverview> | undefined> {
    try {
      const link = this.parts.regions.link(region);
      return await link?.run((_directory, { pool }) => channelOverviews(pool, ids), STATUS_TIMEOUT_MS);
    } catch (error) {
      this.parts.log.warn({ err: error, region, channels: ids.length }, 'reading the status of channels failed');
      return undefined;
    }
  }

  /** Channels whose number contains what was searched for, if that can be one; those of a region that is away are not found. */
  async #idsOfPhone(accountId: string, search: string): Promise<string[]> {
    const digits = search.replaceAll(/[\s+()-]/g, '');
    if (!/^\d{3,15}$/.test(digits)) return [];
    const found = await Promise.all(
      this.parts.regions.names.map(async (name) => {
        const ids = this.parts.regions
          .link(name)
          ?.run((_directory, { pool }) => channelsOfPhone(pool, accountId, digits, MOST_BY_PHONE), STATUS_TIMEOUT_MS);
        return (await ids?.catch(() => [])) ?? [];
      }),
    );
    return found.flat();
  }

  async #find(accountId: string, id: string): Promise<ChannelEntryRow> {
    const entry = await this.parts.entries.find(accountId, id);
    if (!entry) throw channelNotFound();
    return entry;
  }

  /** Undoes a creation. What fails here is undone later by `RegionDeliveries`. */
  async #giveUp(entry: ChannelEntryRow): Promise<void> {
    try {
      await this.parts.entries.giveUp(entry.id);
      await this.finishDeletion(entry, entry.id);
    } catch (error) {
      this.parts.log.warn(
        { err: error, channelId: entry.id },
        'undoing the creation of a channel failed; it is tried again',
      );
    }
  }

  #linkFor(region: Region | undefined): RegionLink {
    const names = this.parts.regions.names;
    const link = this.parts.regions.link(region ?? names[0] ?? '');
    if (!link) throw new GatewayError(400, { details: `region: must be one of ${names.join(', ')}` });
    return link;
  }

  /** @throws {RegionAwayError} for a region that is no longer configured here */
  #linkOf(entry: ChannelEntryRow): RegionLink {
    const link = this.parts.regions.link(entry.region);
    if (!link) throw new RegionAwayError(entry.region);
    return link;
  }
}

async function pickShard(directory: ChannelDirectory): Promise<number> {
  const shard = await directory.pickShard();
  if (shard !== undefined) return shard;
  const facts = {
    message: 'region is not set up',
    details: 'no session worker has started there yet; nothing was created',
  };
  throw new GatewayError(503, { ...facts, retryAfterS: RETRY_AFTER_S });
}

export function channelNotFound(): GatewayError {
  return new GatewayError(404, { message: 'channel not found' });
}

export function regionAway(cause: unknown, details: string): GatewayError {
  const facts = { message: 'region does not answer', details, retryAfterS: RETRY_AFTER_S };
  return new GatewayError(503, facts, { cause });
}

import { webhookIds, WebhookSecrets, type ChannelRecord, type ChannelSeals } from '@dormouse/channel-directory';
import type { GlobalDatabase, RegionalDatabase } from '@dormouse/database';
import { GatewayError } from '@dormouse/gateway-contract';
import type {
  DeadLetterList,
  DeadLettersQuery,
  DeliveriesQuery,
  DeliveryList,
  EventPage,
  EventsQuery,
  RedriveBody,
  RedriveResult,
  ReplayBody,
  ReplayResult,
  TestEventResult,
  WebhookList,
  WebhookSecretsShape,
} from '@dormouse/management-contract';
import type { Cause } from '../accounts/cause.js';
import { recorded } from '../audit/recorded.js';
import { about, type ChannelEntries } from '../channels/channel-entries.js';
import { channelNotFound, regionAway } from '../channels/channels.js';
import { RegionAwayError, type RegionLink, type Regions } from '../regions/regions.js';
import { readEvents, type EventSource } from './event-pages.js';
import { WebhookRows, type ManagedWebhook } from './webhook-rows.js';

interface Region extends EventSource {
  record: ChannelRecord;
  database: RegionalDatabase;
  seals: ChannelSeals | undefined;
}

/** A webhook of a channel of an account. */
export interface WebhookPlace {
  accountId: string;
  channelId: string;
  webhook: string;
}

/** Events and webhooks of an account's channels. Every method throws 404 for an unknown channel, and 503 when its region is away. */
export class Events {
  constructor(
    private readonly entries: ChannelEntries,
    private readonly regions: Regions,
    private readonly database: Pick<GlobalDatabase, 'pool'>,
  ) {}

  async secrets(accountId: string, id: string): Promise<WebhookSecretsShape> {
    return this.#inRegion(accountId, id, async ({ database, seals }) =>
      shownSecrets(await new WebhookSecrets(database, seals).valid(id)),
    );
  }

  async rotateSecret(accountId: string, id: string, oldValidForMs: number, cause: Cause): Promise<WebhookSecretsShape> {
    const entry = { ...cause, ...about(accountId, id), action: 'webhook.rotate-secret' };
    return this.#inRegion(accountId, id, async ({ database, seals }) =>
      shownSecrets(
        await recorded(this.database, entry, () => new WebhookSecrets(database, seals).rotate(id, oldValidForMs)),
      ),
    );
  }

  async webhooks(accountId: string, id: string): Promise<WebhookList> {
    return this.#inRegion(accountId, id, async (region) => {
      const rows = new WebhookRows(region);
      return { webhooks: await Promise.all(webhooksOf(region.record).map((webhook) => rows.state(webhook))) };
    });
  }

  async deliveries(accountId: string, id: string, webhook: string, query: DeliveriesQuery): Promise<DeliveryList> {
    return this.#forWebhook(accountId, id, webhook, (rows, found) => rows.deliveries(found, query));
  }

  async deadLetters(accountId: string, id: string, webhook: string, query: DeadLettersQuery): Promise<DeadLetterList> {
    return this.#forWebhook(accountId, id, webhook, (rows, found) => rows.deadLetters(found, query));
  }

  async redrive(at: WebhookPlace, { sequences }: RedriveBody, cause: Cause): Promise<RedriveResult> {
    return this.#change(at, 'webhook.redrive', cause, async (rows, found) => ({
      redriving: await rows.redrive(found, sequences),
    }));
  }

  async replay(at: WebhookPlace, { from }: ReplayBody, cause: Cause): Promise<ReplayResult> {
    return this.#change(at, 'webhook.replay', cause, (rows, found) => rows.replay(found, from));
  }

  async test(at: WebhookPlace, cause: Cause): Promise<TestEventResult> {
    return this.#change(at, 'webhook.test', cause, (rows, found, record) =>
      rows.test(found, record.session.phone ?? undefined, Date.now()),
    );
  }

  async page(accountId: string, id: string, { cursor, count }: EventsQuery): Promise<EventPage> {
    return this.#inRegion(accountId, id, (region) => readEvents(region, id, { cursor, count }));
  }

  /** The region of a channel of this account. @throws 404 */
  async linkOf(accountId: string, id: string): Promise<RegionLink> {
    const entry = await this.entries.find(accountId, id);
    if (!entry) throw channelNotFound();
    const link = this.regions.link(entry.region);
    if (!link) throw regionAway(new RegionAwayError(entry.region), 'try again later');
    return link;
  }

  /** Whether the account has this channel. */
  async exists(accountId: string, id: string): Promise<boolean> {
    return (await this.entries.find(accountId, id)) !== undefined;
  }

  async #inRegion<T>(accountId: string, id: string, work: (region: Region) => Promise<T>): Promise<T> {
    const link = await this.linkOf(accountId, id);
    try {
      return await link.run(async (directory, database) => {
        const record = await directory.byId(id);
        if (!record || record.deleted) throw channelNotFound();
        return work({ record, database, links: link.links, seals: link.seals });
      });
    } catch (error) {
      throw error instanceof RegionAwayError ? regionAway(error, 'try again later') : error;
    }
  }

  async #forWebhook<T>(
    accountId: string,
    id: string,
    webhookId: string,
    work: (rows: WebhookRows, webhook: ManagedWebhook, record: ChannelRecord) => Promise<T>,
  ): Promise<T> {
    return this.#inRegion(accountId, id, async (region) => {
      const { record } = region;
      const webhook = webhooksOf(record).find((each) => each.id === webhookId);
      if (!webhook) throw new GatewayError(404, { message: 'webhook not found' });
      return work(new WebhookRows(region), webhook, record);
    });
  }

  /** Changes something of a webhook, with an entry in the audit log, and notifies the dispatcher. */
  async #change<T>(
    { accountId, channelId, webhook }: WebhookPlace,
    action: string,
    cause: Cause,
    work: (rows: WebhookRows, webhook: ManagedWebhook, record: ChannelRecord) => Promise<T>,
  ): Promise<T> {
    const entry = { ...cause, ...about(accountId, channelId), action, details: { webhook } };
    const result = await this.#forWebhook(accountId, channelId, webhook, (rows, found, record) =>
      recorded(this.database, entry, () => work(rows, found, record)),
    );
    await (await this.linkOf(accountId, channelId)).notifyEvents(channelId);
    return result;
  }
}

function webhooksOf({ id: channelId, settings }: ChannelRecord): ManagedWebhook[] {
  const ids = webhookIds(settings);
  return settings.webhooks.map((entry, index) => ({ channelId, id: ids[index] ?? '', entry }));
}

function shownSecrets(secrets: Awaited<ReturnType<WebhookSecrets['rotate']>>): WebhookSecretsShape {
  return {
    secrets: secrets.map(({ secret, createdAtMs, expiresAtMs }) => ({
      secret,
      created_at: Math.floor(createdAtMs / 1_000),
      ...(expiresAtMs === undefined ? {} : { expires_at: Math.floor(expiresAtMs / 1_000) }),
    })),
  };
}

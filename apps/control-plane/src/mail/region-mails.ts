/**
 * Finds what happened in the regions that people get mail about: a number that was unlinked on its phone, a webhook that has accepted
 * nothing for an hour.
 *
 * Guarantees: a region needs nobody for this; its rows are read, and nothing is written there. Each incident has one reason, made of
 * when it began, so it is mailed once, however often and by how many processes it is seen. What lies more than a day back is left alone,
 * so that a control plane that comes back after a long absence sends no stale mail. A number that is linked again before it was seen
 * here gets none. A region that is away is read when it is back; the others go on.
 */
import type { Logger } from '@dormouse/bootstrap';
import { SealedValueError, unlinkedNumbers, webhookIds, type ChannelDirectory } from '@dormouse/channel-directory';
import type { GlobalDatabase, RegionalDatabase } from '@dormouse/database';
import { webhooksFailingLong } from '@dormouse/event-outbox';
import { enqueueMail, type Mail } from '@dormouse/mail-outbox';
import { RegionAwayError, type RegionLink, type Regions } from '../regions/regions.js';

/** A webhook fails when it has accepted nothing for so long. */
const FAILING_AFTER_S = 3_600;
/** How far back it looks. */
const WITHIN_S = 86_400;
const PAGE = 200;

/** Where a page begins: the last id, or ids, of the page before. */
interface Page {
  readonly mails: Mail[];
  /** Undefined: it was the last one. */
  readonly next: string | undefined;
}

type ReadPage = (directory: ChannelDirectory, database: RegionalDatabase, after: string) => Promise<Page>;

export class RegionMails {
  constructor(
    private readonly database: Pick<GlobalDatabase, 'pool'>,
    private readonly regions: Pick<Regions, 'names' | 'link'>,
    private readonly log: Logger,
  ) {}

  /** Looks once through all regions. A region that is away is logged. @throws when the global database is away */
  async look(): Promise<void> {
    for (const name of this.regions.names) {
      const link = this.regions.link(name);
      if (!link) continue;
      try {
        await this.#store(link, unlinked);
        await this.#store(link, failing);
      } catch (error) {
        if (!(error instanceof RegionAwayError)) throw error;
        this.log.warn({ err: error, region: name }, 'a region was not looked through for mail; it is tried again');
      }
    }
  }

  async #store(link: RegionLink, read: ReadPage): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined;) {
      const from: string = after;
      const { mails, next }: Page = await link.run((directory, database) => read(directory, database, from));
      for (const mail of mails) await enqueueMail(this.database.pool, mail);
      after = next;
    }
  }
}

const unlinked: ReadPage = async (_directory, { pool }, after) => {
  const rows = await unlinkedNumbers(pool, WITHIN_S, after, PAGE);
  const mails = rows.map(({ id, account_id: accountId, name, session_since: at }): Mail => {
    return {
      kind: 'number-unlinked',
      reason: `number-unlinked:${id}:${at.getTime()}`,
      to: { accountId, audience: 'owners' },
      data: { channelId: id, channelName: name, at: at.toISOString() },
    };
  });
  return { mails, next: rows.length < PAGE ? undefined : rows.at(-1)?.id };
};

const failing: ReadPage = async (directory, { pool }, after) => {
  const [channelId = '', webhookId = ''] = after.split(' ');
  const within = { forS: FAILING_AFTER_S, withinS: WITHIN_S };
  const rows = await webhooksFailingLong(pool, within, { channelId, webhookId }, PAGE);
  const mails = await Promise.all(rows.map((row) => failingWebhookMail(directory, row)));
  const last = rows.at(-1);
  return {
    mails: mails.filter((mail) => mail !== undefined),
    next: rows.length < PAGE || !last ? undefined : `${last.channel_id} ${last.webhook_id}`,
  };
};

async function failingWebhookMail(
  directory: ChannelDirectory,
  row: Awaited<ReturnType<typeof webhooksFailingLong>>[number],
): Promise<Mail | undefined> {
  const { channel_id: channelId, webhook_id: webhookId } = row;
  // Settings that do not open are an operator's matter; others' webhooks must not wait for it.
  const channel = await directory.byId(channelId).catch((error: unknown) => {
    if (error instanceof SealedValueError) return undefined;
    throw error;
  });
  const entry = channel?.settings.webhooks[webhookIds(channel.settings).indexOf(webhookId)];
  if (!channel || !entry) return undefined;
  return {
    kind: 'webhook-failing',
    reason: `webhook-failing:${channelId}:${webhookId}:${row.quiet_since.getTime()}`,
    to: { accountId: channel.accountId, audience: 'owners' },
    data: {
      channelId,
      channelName: channel.name,
      host: new URL(entry.url).host,
      since: row.failing_since.toISOString(),
      lastError: row.last_error,
    },
  };
}

/**
 * Everything that is stored of a channel as the text of one JSON object: the channel, its settings, and contacts, chats, groups and
 * messages in the order in which they were sent.
 *
 * The control plane has no right to read messages in a region: the channel's worker reads them, a page for each command, and none is
 * asked for before the one before was sent. So neither holds more than a page, however many messages there are and however slowly
 * they are fetched. Without a worker, Redis or the region the export is 503 before its first byte; later its text ends in the middle,
 * and is no JSON.
 */
import { appendAudit } from '@dormouse/audit-log';
import { newRequestId } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import { EXPORT_KINDS, shownSettings, type ExportKind, type ExportPage } from '@dormouse/gateway-contract';
import type { Cause } from '../accounts/cause.js';
import { RegionAwayError, type RegionLink, type Regions } from '../regions/regions.js';
import { about, type ChannelEntries } from './channel-entries.js';
import { channelNotFound, regionAway, type Channels } from './channels.js';

const AWAY = 'nothing was exported: try again';

export class ChannelExport {
  constructor(
    private readonly entries: ChannelEntries,
    private readonly channels: Pick<Channels, 'get'>,
    private readonly regions: Pick<Regions, 'link'>,
    private readonly database: Pick<GlobalDatabase, 'pool'>,
  ) {}

  /**
   * Reads the first page, and gives pieces of the text that are read while they are sent.
   * @throws {GatewayError} 404; 503 when the region or the channel's worker does not answer
   */
  async begin(accountId: string, id: string, cause: Cause): Promise<AsyncGenerator<string>> {
    const entry = await this.entries.find(accountId, id);
    if (!entry) throw channelNotFound();
    const link = this.regions.link(entry.region);
    if (!link) throw regionAway(new RegionAwayError(entry.region), AWAY);
    const record = await link
      .run((directory) => directory.byId(id))
      .catch((error: unknown) => {
        throw regionAway(error, AWAY);
      });
    if (!record || record.deleted) throw channelNotFound();
    const requestId = cause.requestId ?? newRequestId();
    const read = (kind: ExportKind, after: string) => readPage(link, record, { kind, after, requestId });
    const first = await read(EXPORT_KINDS[0], '');
    await appendAudit(this.database.pool, { ...cause, ...about(accountId, id), action: 'channel.export' });
    const head = { channel: await this.channels.get(accountId, id), settings: shownSettings(record.settings) };
    return text(head, first, read);
  }
}

function readPage(
  link: RegionLink,
  channel: { id: string; shard: number },
  { kind, after, requestId }: { kind: ExportKind; after: string; requestId: string },
): Promise<ExportPage> {
  return link.command(channel, 'channel.exportPage', { kind, after }, { requestId });
}

async function* text(
  head: object,
  first: ExportPage,
  read: (kind: ExportKind, after: string) => Promise<ExportPage>,
): AsyncGenerator<string> {
  yield JSON.stringify(head).slice(0, -1);
  for (const kind of EXPORT_KINDS) {
    yield `,"${kind}":[`;
    let separator = '';
    let page: ExportPage | undefined = kind === EXPORT_KINDS[0] ? first : await read(kind, '');
    while (page) {
      for (const row of page.rows) {
        yield separator + JSON.stringify(row);
        separator = ',\n';
      }
      page = page.next === undefined ? undefined : await read(kind, page.next);
    }
    yield ']';
  }
  yield '}';
}

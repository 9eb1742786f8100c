import { listAudit } from '@dormouse/audit-log';
import type { ChannelDirectory } from '@dormouse/channel-directory';
import type { GlobalDatabase } from '@dormouse/database';
import type { AccountExport, AccountRecord } from '@dormouse/management-contract';
import type { Caller } from '../accounts/caller.js';
import type { Keys } from '../accounts/keys.js';
import { shownEntry } from '../audit/audit.controller.js';
import type { ChannelEntries, ChannelEntryRow } from '../channels/channel-entries.js';
import type { Regions } from '../regions/regions.js';
import type { Invitations } from '../teams/invitations.js';
import type { Members } from '../teams/members.js';

const PAGE = 500;
const REGION_TIMEOUT_MS = 2_000;

type ExportedChannel = AccountExport['channels'][number];

export interface ExportParts {
  database: Pick<GlobalDatabase, 'pool'>;
  members: Members;
  invitations: Invitations;
  keys: Keys;
  entries: ChannelEntries;
  regions: Regions;
}

/** Everything that is stored of an account, but messages, files, tokens and keys, as the text of one JSON object. */
export class AccountExporter {
  constructor(private readonly parts: ExportParts) {}

  /**
   * Pieces of the JSON text, read page by page while it is sent. A failure in the middle ends the text there.
   * @throws the driver's errors
   */
  async *text(caller: Caller, account: AccountRecord): AsyncGenerator<string> {
    const { members, invitations, keys } = this.parts;
    const head = {
      account,
      members: await members.list(account.id),
      invitations: await invitations.list(account.id),
      keys: await keys.list(caller),
    };
    yield JSON.stringify(head).slice(0, -1);
    yield* list('channels', this.#channels(account.id));
    yield* list('audit', this.#audit(account.id));
    yield '}';
  }

  async *#channels(accountId: string): AsyncGenerator<ExportedChannel> {
    const away = new Set<string>();
    for (let offset = 0; ; offset += PAGE) {
      const { entries } = await this.parts.entries.list(accountId, { count: PAGE, offset });
      for (const entry of entries) yield await this.#channel(entry, away);
      if (entries.length < PAGE) return;
    }
  }

  /** @param away regions that did not answer: they are not tried for every channel */
  async #channel(entry: ChannelEntryRow, away: Set<string>): Promise<ExportedChannel> {
    const { id, name, region, createdAtMs } = entry;
    const known = { id, name, region, created_at: Math.floor(createdAtMs / 1_000) };
    const link = away.has(region) ? undefined : this.parts.regions.link(region);
    const read = (directory: ChannelDirectory) => directory.byId(id);
    const record = await link?.run(read, REGION_TIMEOUT_MS).catch(() => undefined);
    if (!record) {
      away.add(region);
      return { ...known, incomplete: true };
    }
    const { settings, session } = record;
    return { ...known, ...(session.phone === null ? {} : { phone: session.phone }), settings: { ...settings } };
  }

  async *#audit(accountId: string): AsyncGenerator<AccountExport['audit'][number]> {
    let before: string | undefined;
    for (;;) {
      const page = { count: PAGE, ...(before === undefined ? {} : { before }) };
      const entries = await listAudit(this.parts.database.pool, accountId, page);
      for (const entry of entries) yield shownEntry(entry);
      before = entries.at(-1)?.id;
      if (entries.length < PAGE) return;
    }
  }
}

/** A further field of the object: an array of what is read. */
async function* list(name: string, items: AsyncIterable<object>): AsyncGenerator<string> {
  yield `,"${name}":[`;
  let separator = '';
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',';
  }
  yield ']';
}

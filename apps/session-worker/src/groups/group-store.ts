/**
 * The groups of channels, read through: from the store, and from the network where the store has nothing or is behind.
 *
 * Notices of the network keep the store current while a session is open, and the network keeps notices for a session that
 * is not. So a send reads the store alone. The network is queried about one group when it is not stored or a change of it
 * could not be applied, and about all groups after a link and once a day; a query whose result was overtaken by a notice is
 * repeated. With PostgreSQL away nothing is known: the caller's error is the driver's.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import type { GroupRecord, GroupWriter, StoredGroup } from '@dormouse/message-store/write';
import { groupFromNetwork, groupToNetwork } from '../convert/group.js';
import { readJid } from '../convert/jid.js';
import type { People } from '../convert/people.js';
import type { GroupDescription } from '../socket/network-events.js';
import type { OpenSession } from '../socket/open-session.js';
import { refusedRequest } from '../socket/requests/refused-request.js';

export interface GroupStoreOptions {
  readonly groups: GroupWriter;
  /** Notifies the dispatcher of new events; losing it is harmless. */
  readonly eventsReady: (channelId: string) => void;
}

/** How often a query is sent whose result is overtaken each time; then the last result counts. */
const ATTEMPTS = 3;
/** How many groups are stored together; the channel's other writes go in between. */
const BATCH = 50;

export class GroupStore {
  constructor(private readonly options: GroupStoreOptions) {}

  /** What the library needs to send to a group; undefined: it queries the network. */
  async addressed(session: Pick<OpenSession, 'channelId'>, groupId: string): Promise<GroupDescription | undefined> {
    const group = await this.options.groups.find(session.channelId, groupId);
    return group?.member && !group.stale ? groupToNetwork(group) : undefined;
  }

  /**
   * The group, from the store while that is current.
   * @throws {GatewayError} 404 when there is no such group or the channel is not in it
   */
  async read(session: OpenSession, groupId: string): Promise<GroupRecord> {
    const known = await this.options.groups.find(session.channelId, groupId);
    const group = known && !known.stale ? known : await this.refresh(session, groupId);
    if (!group.member) throw noSuchGroup();
    return group;
  }

  /**
   * Queries the network about one group, and stores the result.
   * @throws {GatewayError} 404 when there is no such group or the channel is not in it
   */
  async refresh(session: OpenSession, groupId: string): Promise<GroupRecord> {
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.options.groups.find(session.channelId, groupId);
      const group = await this.describe(session, groupId, known);
      const versions = attempt < ATTEMPTS ? new Map(known && [[groupId, known.version]]) : undefined;
      if ((await this.record(session, [group], { ...(versions && { versions }) })).length === 0) return group;
    }
  }

  /** Queries the network about all groups, and stores the result. Groups that were not known cause no events. */
  async refreshAll(session: OpenSession): Promise<void> {
    const { channelId, fence } = session;
    const versions = await this.options.groups.versions(channelId);
    const described = await session.network.groups.describeAll();
    const people = await peopleOf(session, described);
    const overtaken: string[] = [];
    for (let at = 0; at < described.length; at += BATCH) {
      const some = described.slice(at, at + BATCH).map((group) => groupFromNetwork(group, people));
      overtaken.push(...(await this.record(session, some, { versions, quiet: true })));
    }
    const queried = described.map(({ id }) => id);
    await this.options.groups.finishSync(fence, channelId, { device: deviceOf(session), named: queried, versions });
    for (const id of overtaken) await this.refresh(session, id);
  }

  /** Time of the last query of all groups, in epoch milliseconds; undefined: none by this device. */
  syncedAtMs(session: OpenSession): Promise<number | undefined> {
    return this.options.groups.syncedAtMs(session.channelId, deviceOf(session));
  }

  /** Groups with a change that could not be applied. */
  stale(session: OpenSession): Promise<string[]> {
    return this.options.groups.stale(session.channelId);
  }

  /**
   * Changes a group as the network has just confirmed it. Its own notice of the same then changes nothing.
   * @param apply undefined when the change cannot be applied: the network is queried
   */
  async change(
    session: OpenSession,
    groupId: string,
    apply: (before: GroupRecord) => GroupRecord | undefined,
  ): Promise<void> {
    const { channelId, fence } = session;
    const { seqs, stale } = await this.options.groups.changeGroup(fence, channelId, groupId, apply);
    if (seqs.length > 0) this.options.eventsReady(channelId);
    if (stale) await this.refresh(session, groupId);
  }

  private async describe(session: OpenSession, groupId: string, known: StoredGroup | undefined): Promise<GroupRecord> {
    try {
      const group = await session.network.groups.describe(groupId);
      return groupFromNetwork(group, await peopleOf(session, [group]));
    } catch (error) {
      const refusal = refusedRequest(error);
      if (refusal === undefined || !NOT_IN_IT.includes(refusal)) throw error;
      if (known?.member) await this.record(session, [{ ...known, member: false }]);
      throw noSuchGroup();
    }
  }

  private async record(
    session: OpenSession,
    groups: readonly GroupRecord[],
    how: { versions?: ReadonlyMap<string, number>; quiet?: boolean } = {},
  ): Promise<string[]> {
    const { channelId, fence } = session;
    const { seqs, overtaken } = await this.options.groups.recordGroups(fence, channelId, groups, how);
    if (seqs.length > 0) this.options.eventsReady(channelId);
    return overtaken;
  }
}

/** Codes of the network for a group that is gone, never existed, or does not have the channel as member. */
const NOT_IN_IT = [401, 403, 404, 410];

export function noSuchGroup(): GatewayError {
  return new GatewayError(404, { details: 'no such group' });
}

function deviceOf({ identity: { phone, deviceId } }: OpenSession): string {
  return `${phone}:${deviceId}`;
}

/** The numbers of members known by LID alone, as far as the device knows them. */
async function peopleOf(session: OpenSession, groups: readonly GroupDescription[]): Promise<People> {
  const lids = new Set<string>();
  for (const { participants } of groups) {
    for (const { id, phoneNumber } of participants) {
      if (phoneNumber === undefined && readJid(id)?.server === 'lid') lids.add(id);
    }
  }
  return { own: session.identity, numbers: await session.network.people.numbersOfLids([...lids]) };
}

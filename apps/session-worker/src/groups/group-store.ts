/**
 * What this worker knows of groups: the store, and the network where the store knows nothing or is behind.
 *
 * Notices of the network keep the store true while a session is open, and the network keeps notices for a session that
 * is not. So a send asks the store alone. The network is asked about one group when it was never heard of or something
 * happened to it that could not be applied, and about all of them after a link and once a day; an answer that was
 * overtaken by a notice is asked for again. With PostgreSQL away nothing is known: the caller's error is the driver's.
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
  /** Tells the dispatcher that there is something to tell; losing it is harmless. */
  readonly eventsReady: (channelId: string) => void;
}

/** So many times an overtaken answer is asked for again; after that the last one counts. */
const ATTEMPTS = 3;
/** So many groups are stored together; the channel's other writes pass between. */
const BATCH = 50;

export class GroupStore {
  constructor(private readonly options: GroupStoreOptions) {}

  /** What the library needs to say something in a group; undefined: let it ask the network. */
  async addressed(session: Pick<OpenSession, 'channelId'>, groupId: string): Promise<GroupDescription | undefined> {
    const group = await this.options.groups.find(session.channelId, groupId);
    return group?.member && !group.stale ? groupToNetwork(group) : undefined;
  }

  /**
   * The group, from the store while that is true.
   * @throws {GatewayError} 404 when there is no such group or the channel is not in it
   */
  async read(session: OpenSession, groupId: string): Promise<GroupRecord> {
    const known = await this.options.groups.find(session.channelId, groupId);
    const group = known && !known.stale ? known : await this.refresh(session, groupId);
    if (!group.member) throw noSuchGroup();
    return group;
  }

  /**
   * Asks the network about one group, and stores what it says.
   * @throws {GatewayError} 404 when there is no such group or the channel is not in it
   */
  async refresh(session: OpenSession, groupId: string): Promise<GroupRecord> {
    for (let attempt = 1; ; attempt += 1) {
      const known = await this.options.groups.find(session.channelId, groupId);
      const group = await this.ask(session, groupId, known);
      const versions = attempt < ATTEMPTS ? new Map(known && [[groupId, known.version]]) : undefined;
      if ((await this.record(session, [group], { ...(versions && { versions }) })).length === 0) return group;
    }
  }

  /** Asks the network about all groups, and stores what it says. Groups that were not known are no news. */
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
    const named = described.map(({ id }) => id);
    await this.options.groups.finishSync(fence, channelId, { device: deviceOf(session), named, versions });
    for (const id of overtaken) await this.refresh(session, id);
  }

  /** When all groups were asked for last (epoch milliseconds); undefined: never by this device. */
  syncedAtMs(session: OpenSession): Promise<number | undefined> {
    return this.options.groups.syncedAtMs(session.channelId, deviceOf(session));
  }

  /** Groups of which something could not be applied. */
  stale(session: OpenSession): Promise<string[]> {
    return this.options.groups.stale(session.channelId);
  }

  /**
   * Changes a group as the network has just confirmed it. Its own notice of the same then changes nothing.
   * @param apply undefined when the change cannot be applied: the network is asked
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

  private async ask(session: OpenSession, groupId: string, known: StoredGroup | undefined): Promise<GroupRecord> {
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

/** The network's answers about a group that is gone, that never was, or that the channel is not in. */
const NOT_IN_IT = [401, 403, 404, 410];

export function noSuchGroup(): GatewayError {
  return new GatewayError(404, { details: 'no such group' });
}

function deviceOf({ identity: { phone, deviceId } }: OpenSession): string {
  return `${phone}:${deviceId}`;
}

/** Who the members without a number are, as far as the device has learnt it. */
async function peopleOf(session: OpenSession, groups: readonly GroupDescription[]): Promise<People> {
  const lids = new Set<string>();
  for (const { participants } of groups) {
    for (const { id, phoneNumber } of participants) {
      if (phoneNumber === undefined && readJid(id)?.server === 'lid') lids.add(id);
    }
  }
  return { own: session.identity, numbers: await session.network.people.numbersOfLids([...lids]) };
}

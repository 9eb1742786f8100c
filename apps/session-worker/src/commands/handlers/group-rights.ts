/** Rights in a group, and what a refusal of the network means. */
import { GatewayError } from '@dormouse/gateway-contract';
import type { GroupRecord } from '@dormouse/message-store/write';
import { isOwnMember } from '../../convert/group.js';
import { noSuchGroup, type GroupStore } from '../../groups/group-store.js';
import { refusedRequest } from '../../socket/requests/refused-request.js';
import type { OpenSession } from '../../socket/open-session.js';

export function isAdmin({ identity }: Pick<OpenSession, 'identity'>, { members }: GroupRecord): boolean {
  const self = members.find((member) => isOwnMember(member, identity));
  return self !== undefined && self.rank !== 'member';
}

/** @throws {GatewayError} 403 when the channel is no admin of the group */
export function requireAdmin(session: Pick<OpenSession, 'identity'>, group: GroupRecord): void {
  if (!isAdmin(session, group)) throw adminsOnly();
}

function adminsOnly(): GatewayError {
  return new GatewayError(403, { details: 'group admin rights are needed' });
}

const FORBIDDEN = [401, 403];
const GONE = [404, 410];

/**
 * Runs a request about a group. A refusal means that the stored group was out of date: it is queried again.
 * @throws {GatewayError} 403 for missing rights, 404 when the channel is not in the group
 */
export async function asMember<T>(
  session: OpenSession,
  { groups }: { groups: Pick<GroupStore, 'refresh'> },
  { id }: Pick<GroupRecord, 'id'>,
  request: () => Promise<T>,
): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const refusal = refusedRequest(error);
    if (refusal === undefined || ![...FORBIDDEN, ...GONE].includes(refusal)) throw error;
    await groups.refresh(session, id);
    throw FORBIDDEN.includes(refusal) ? adminsOnly() : noSuchGroup();
  }
}

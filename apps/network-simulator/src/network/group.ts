import { randomBytes } from 'node:crypto';
import type { Picture } from './picture.js';

export type GroupRole = 'superadmin' | 'admin' | 'member';

/** What a group is, as it is stored. People are named by private id. */
export interface GroupState {
  id: string;
  /** How members are named on the wire. */
  addressing: 'lid' | 'pn';
  subject: { text: string; by: string; at: number };
  description?: { id: string; text: string; by: string; at: number };
  createdAt: number;
  creator: string;
  members: Record<string, GroupRole>;
  /** Only admins write. */
  announcement: boolean;
  /** Only admins change subject, description, picture and settings. */
  locked: boolean;
  addMode: 'all_member_add' | 'admin_add';
  ephemeralSeconds: number;
  /** Joining by link waits for an admin. */
  approval: boolean;
  /** Who requested to join, and when (seconds since 1970). */
  waiting: { lid: string; at: number }[];
  picture?: Picture;
  inviteCode: string;
  /** Invitations for one person each, by code. */
  invitations: Record<string, { lid: string; by: string; until: number }>;
}

const INVITATION_SECONDS = 3 * 86_400;

/** A group and the rules of who may do what in it. */
export class Group {
  constructor(
    readonly state: GroupState,
    readonly changed: () => void,
  ) {}

  static fresh(id: string, creator: string, subject: string, nowSeconds: number, changed: () => void): Group {
    return new Group(
      {
        id,
        addressing: 'lid',
        subject: { text: subject, by: creator, at: nowSeconds },
        createdAt: nowSeconds,
        creator,
        members: { [creator]: 'superadmin' },
        announcement: false,
        locked: false,
        addMode: 'all_member_add',
        ephemeralSeconds: 0,
        approval: false,
        waiting: [],
        inviteCode: newCode(),
        invitations: {},
      },
      changed,
    );
  }

  get jid(): string {
    return `${this.state.id}@g.us`;
  }

  get memberLids(): string[] {
    return Object.keys(this.state.members);
  }

  has(lid: string): boolean {
    return this.state.members[lid] !== undefined;
  }

  isAdmin(lid: string): boolean {
    const role = this.state.members[lid];
    return role === 'admin' || role === 'superadmin';
  }

  mayWrite(lid: string): boolean {
    return this.has(lid) && (!this.state.announcement || this.isAdmin(lid));
  }

  /** Subject, description, picture: members, unless the group is locked. */
  mayDescribe(lid: string): boolean {
    return this.has(lid) && (!this.state.locked || this.isAdmin(lid));
  }

  mayAdd(lid: string): boolean {
    return this.has(lid) && (this.state.addMode === 'all_member_add' || this.isAdmin(lid));
  }

  get adminLids(): string[] {
    return this.memberLids.filter((lid) => this.isAdmin(lid));
  }

  /** Makes somebody a member, and ends their request to join. */
  letIn(lid: string): void {
    this.state.members[lid] = 'member';
    this.state.waiting = this.state.waiting.filter((one) => one.lid !== lid);
    this.changed();
  }

  /** Puts one person in the place of another: a member who changed number. */
  replaceMember(lid: string, by: string): void {
    const { members } = this.state;
    this.state.members = Object.fromEntries(
      Object.entries(members).map(([member, role]) => [member === lid ? by : member, role]),
    );
    if (this.state.creator === lid) this.state.creator = by;
    if (this.state.subject.by === lid) this.state.subject.by = by;
    if (this.state.description?.by === lid) this.state.description.by = by;
    this.changed();
  }

  /** Adds a request to join; false when there is one already. */
  requestToJoin(lid: string, nowSeconds: number): boolean {
    if (this.state.waiting.some((one) => one.lid === lid)) return false;
    this.state.waiting.push({ lid, at: nowSeconds });
    this.changed();
    return true;
  }

  /** Removes somebody's request to join; false when there is none. */
  withdrawRequest(lid: string): boolean {
    const before = this.state.waiting.length;
    this.state.waiting = this.state.waiting.filter((one) => one.lid !== lid);
    if (this.state.waiting.length === before) return false;
    this.changed();
    return true;
  }

  newInviteCode(): string {
    this.state.inviteCode = newCode();
    this.changed();
    return this.state.inviteCode;
  }

  /** An invitation that only this person can accept, for three days. */
  invite(lid: string, by: string, nowSeconds: number): { code: string; until: number } {
    const code = newCode();
    const until = nowSeconds + INVITATION_SECONDS;
    this.state.invitations[code] = { lid, by, until };
    this.changed();
    return { code, until };
  }
}

function newCode(): string {
  return randomBytes(16).toString('base64url').replace(/[-_]/g, 'x').slice(0, 22);
}

import type { Store } from '../store/store.js';
import { Group, type GroupState } from './group.js';

/** All groups of the network. */
export class Groups {
  private readonly byId = new Map<string, Group>();
  private lastId = 0;

  constructor(private readonly store: Store) {}

  async load(): Promise<void> {
    for (const name of await this.store.list('groups', '.json')) {
      const state = (await this.store.json(name)) as GroupState;
      const group: Group = new Group(state, () => this.save(group));
      this.byId.set(state.id, group);
    }
  }

  all(): Iterable<Group> {
    return this.byId.values();
  }

  /** A group by its address or the bare id. */
  find(jid: string): Group | undefined {
    return this.byId.get(jid.replace('@g.us', ''));
  }

  byInviteCode(code: string): Group | undefined {
    for (const group of this.byId.values()) {
      if (group.state.inviteCode === code) return group;
    }
    return undefined;
  }

  ofMember(lid: string): Group[] {
    return [...this.byId.values()].filter((group) => group.has(lid));
  }

  create(creator: string, subject: string, nowMs: number): Group {
    const id = `12036${String(nowMs).padStart(13, '0').slice(-9)}${String(++this.lastId).padStart(4, '0')}`;
    const group: Group = Group.fresh(id, creator, subject, Math.floor(nowMs / 1000), () => this.save(group));
    this.byId.set(id, group);
    group.changed();
    return group;
  }

  /** Ends a group: its address means nothing any more. */
  async remove(group: Group): Promise<void> {
    this.byId.delete(group.state.id);
    await this.store.remove(fileName(group));
  }

  /** Ends all groups. */
  async clear(): Promise<void> {
    this.byId.clear();
    await this.store.removeFolder('groups');
  }

  private save(group: Group): void {
    if (this.byId.get(group.state.id) !== group) return;
    this.store.save(fileName(group), () => group.state);
  }
}

const fileName = ({ state }: Group): string => `groups/${state.id}.json`;

/** Records of one kind in the order of their creation. Changes go through `put`, which replaces the record whole. */
export class Collection<T extends { id: string }> {
  private readonly places = new Map<string, number>();
  private readonly records: (T | undefined)[] = [];

  /** @param changed is called before each change with what was there before, so that it can be undone */
  constructor(private readonly changed: (id: string, before: T | undefined) => void) {}

  get(id: string): T | undefined {
    const place = this.places.get(id);
    return place === undefined ? undefined : this.records[place];
  }

  put(record: T): T {
    const place = this.places.get(record.id);
    this.changed(record.id, place === undefined ? undefined : this.records[place]);
    this.set(record.id, record);
    return record;
  }

  /** Changes some fields of a record and returns it. */
  change(id: string, fields: Partial<T>): T {
    const record = this.get(id);
    if (!record) throw new Error(`There is no record ${id}.`);
    return this.put({ ...record, ...fields });
  }

  remove(id: string): void {
    const before = this.get(id);
    if (!before) return;
    this.changed(id, before);
    this.set(id, undefined);
  }

  /** Puts back or loads a record as it was: nothing is noted as changed. */
  set(id: string, record: T | undefined): void {
    const place = this.places.get(id);
    if (record === undefined) {
      if (place !== undefined) this.records[place] = undefined;
      this.places.delete(id);
      return;
    }
    if (place === undefined) this.places.set(id, this.records.push(record) - 1);
    else this.records[place] = record;
  }

  /** Newest first; only what is older than `olderThan`, if that is given. */
  *newestFirst(olderThan?: string): Generator<T> {
    const from = olderThan === undefined ? this.records.length : (this.places.get(olderThan) ?? 0);
    for (let place = from - 1; place >= 0; place -= 1) {
      const record = this.records[place];
      if (record) yield record;
    }
  }

  /** Oldest first; only what is newer than `newerThan`, if that is given. */
  *oldestFirst(newerThan?: string): Generator<T> {
    const from = newerThan === undefined ? 0 : (this.places.get(newerThan) ?? this.records.length) + 1;
    for (let place = from; place < this.records.length; place += 1) {
      const record = this.records[place];
      if (record) yield record;
    }
  }

  filter(test: (record: T) => boolean): T[] {
    return [...this.oldestFirst()].filter(test);
  }
}

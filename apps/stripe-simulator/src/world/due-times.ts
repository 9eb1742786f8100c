/** Something that falls due. */
export interface Due {
  at: number;
  id: string;
}

/** What falls due when, for one clock; in order of time. Entries that are out of date are found out when they come up. */
export class DueTimes {
  private readonly entries: Due[] = [];

  add(due: Due): void {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.at ?? 0) <= due.at) low = middle + 1;
      else high = middle;
    }
    this.entries.splice(low, 0, due);
  }

  /** Takes the earliest one that is due by then. */
  take(by: number): Due | undefined {
    const [first] = this.entries;
    return first && first.at <= by ? this.entries.shift() : undefined;
  }
}

/** The entries of several clocks; null is the simulator's own time. */
export class Schedule {
  private readonly clocks = new Map<string | null, DueTimes>();

  of(clock: string | null): DueTimes {
    const present = this.clocks.get(clock);
    if (present) return present;
    const made = new DueTimes();
    this.clocks.set(clock, made);
    return made;
  }
}

import { printTable } from '@dormouse/bench/table';

/** What a promise looks like in the table. */
const KEPT = 'kept';
const SHOWN_FAULTS = 10;

/** What a drill does and finds: steps on standard error as they happen, a table of figures and promises at the end. */
export class Report {
  private readonly startedMs = performance.now();
  private readonly figures: [name: string, value: string][] = [];
  private readonly broken: string[] = [];

  constructor(private readonly log: (line: string) => void = (line) => console.error(line)) {}

  /** Says what is done now, for the person who watches. */
  step(text: string): void {
    const elapsedS = (performance.now() - this.startedMs) / 1_000;
    this.log(`${elapsedS.toFixed(1).padStart(6)} s  ${text}`);
  }

  figure(name: string, value: number | string): void {
    this.figures.push([name, String(value)]);
  }

  /** @param faults what broke it; empty: it was kept */
  promise(text: string, faults: readonly string[]): void {
    this.figure(text, faults.length === 0 ? KEPT : `BROKEN ${faults.length} times`);
    if (faults.length === 0) return;
    const more = faults.length > SHOWN_FAULTS ? [`and ${faults.length - SHOWN_FAULTS} more`] : [];
    this.broken.push(text, ...[...faults.slice(0, SHOWN_FAULTS), ...more].map((fault) => `  ${fault}`));
  }

  get isKept(): boolean {
    return this.broken.length === 0;
  }

  /** The table, and under it what broke a promise. */
  print(title: string): void {
    printTable([[title, ''], ...this.figures]);
    for (const line of this.broken) console.log(line);
  }
}

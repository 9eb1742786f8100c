import type { FormNode } from '../wire/form.js';

/** A request as it came and how it was answered. */
export interface LoggedRequest {
  method: string;
  path: string;
  parameters: FormNode;
  idempotencyKey: string | null;
  requestId: string;
  status: number;
  /** What was made to go wrong with it. */
  faults: string[];
}

const MOST = 20_000;

/** The last requests, numbered from 1 on; it is not kept over a restart. */
export class RequestLog {
  private readonly entries: (LoggedRequest & { number: number; atMs: number })[] = [];
  private count = 0;

  constructor(private readonly wallMs: () => number) {}

  add(request: LoggedRequest): void {
    this.count += 1;
    this.entries.push({ number: this.count, atMs: this.wallMs(), ...request });
    if (this.entries.length > MOST) this.entries.splice(0, MOST / 10);
  }

  /** Requests with a number above this one. */
  after(number: number) {
    return this.entries.filter((entry) => entry.number > number);
  }
}

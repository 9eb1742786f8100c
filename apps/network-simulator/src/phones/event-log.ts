import { EventEmitter } from 'node:events';
import type { PhoneEvent } from '../network/phone-event.js';
import type { Store } from '../store/store.js';

export interface EventFilter {
  kind?: string | undefined;
  what?: string | undefined;
  chat?: string | undefined;
  from?: string | undefined;
}

const LIMIT = 2000;

/** The last events of one phone. What happened in groups is stored, since histories show it; all else is in memory alone. */
export class EventLog {
  private readonly events: PhoneEvent[] = [];
  private readonly emitter = new EventEmitter().setMaxListeners(0);

  constructor(
    private readonly store: Store,
    private readonly file: string,
  ) {}

  async load(): Promise<void> {
    for (const event of (await this.store.lines(this.file)) as PhoneEvent[]) this.insert(event);
  }

  add(event: PhoneEvent): void {
    this.insert(event);
    if (event.kind === 'group') this.store.append(this.file, event);
    this.emitter.emit('event', event);
  }

  all(filter: EventFilter = {}): PhoneEvent[] {
    return this.events.filter((event) => fits(event, filter));
  }

  watch(listener: (event: PhoneEvent) => void): () => void {
    this.emitter.on('event', listener);
    return () => this.emitter.off('event', listener);
  }

  /** The first event that fits, now or within the time; `undefined` at the deadline. */
  wait(filter: EventFilter, timeoutMs: number): Promise<PhoneEvent | undefined> {
    const present = this.events.find((event) => fits(event, filter));
    if (present) return Promise.resolve(present);
    return new Promise((resolve) => {
      const done = (event: PhoneEvent | undefined): void => {
        clearTimeout(timer);
        stop();
        resolve(event);
      };
      const stop = this.watch((event) => {
        if (fits(event, filter)) done(event);
      });
      const timer = setTimeout(() => done(undefined), timeoutMs);
    });
  }

  private insert(event: PhoneEvent): void {
    this.events.push(event);
    if (this.events.length > LIMIT) this.events.shift();
  }
}

function fits(event: PhoneEvent, filter: EventFilter): boolean {
  return (
    (filter.kind === undefined || event.kind === filter.kind) &&
    (filter.what === undefined || event.what === filter.what) &&
    (filter.chat === undefined || event.chat === filter.chat) &&
    (filter.from === undefined || event.from === filter.from)
  );
}

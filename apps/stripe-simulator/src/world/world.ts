// What all parts of the simulator share: its records, its time, and the events that changes cause.
//
// Time is that of a customer's test clock, or the simulator's own: the wall clock plus what it was moved ahead. While
// things fall due, it is each time the moment at which they do, so that what follows carries the right dates.
import { DEFAULT_COLLECTION_RULES } from '../money/retries.js';
import { deliveryId } from '../objects/delivery-id.js';
import type { AnyRecord, SimulatorState } from '../objects/records.js';
import type { Store } from '../objects/store.js';
import { Views } from '../objects/views.js';
import { newId } from '../wire/ids.js';
import { previousAttributes } from './differences.js';
import { Schedule } from './due-times.js';

export const API_VERSION = '2026-10-28.endive';
const STATE = 'simulator';
const RETRIES_MS = [1000, 5000, 30_000, 300_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000, 24 * 3_600_000];

/** The request on whose behalf something changes: its events name it. */
export interface RequestTrace {
  id: string | null;
  idempotency_key: string | null;
}

const NOBODY: RequestTrace = { id: null, idempotency_key: null };

export class World {
  readonly views: Views;
  readonly schedule = new Schedule();
  private readonly instants = new Map<string | null, number>();
  private trace: RequestTrace = NOBODY;

  constructor(
    readonly store: Store,
    readonly options: {
      /** The address of the pages, without a slash at the end. */
      publicUrl: () => string;
      livemode: boolean;
      /** The wall clock in milliseconds. */
      wallMs: () => number;
      /** When a record falls due next, in its own time. */
      dueAt: (record: AnyRecord) => number | undefined;
    },
  ) {
    this.views = new Views(store, options.livemode);
    for (const record of store.records()) this.plan(record);
    store.onCommit((records) => records.forEach((record) => this.plan(record)));
  }

  /** Settings, faults and how far time was moved. */
  get state(): SimulatorState {
    return (
      this.store.simulator.get(STATE) ?? {
        ...{ id: STATE, object: 'simulator', created: 0, aheadSeconds: 0, collection: DEFAULT_COLLECTION_RULES },
        webhooks: { mode: 'send', isDoubled: false, isShuffled: false, retryAfterMs: RETRIES_MS },
        ...{ faults: [], isAway: false, searchDelayMs: 1000 },
      }
    );
  }

  changeState(fields: Partial<SimulatorState>): void {
    this.store.transact(() => this.store.simulator.put({ ...this.state, ...fields }));
  }

  /** Seconds since 1970 on a test clock, or in the simulator's own time for null. */
  now(clock: string | null): number {
    const instant = this.instants.get(clock);
    if (instant !== undefined) return instant;
    const frozen = clock === null ? undefined : this.store.testClocks.get(clock)?.frozen_time;
    return frozen ?? Math.floor(this.options.wallMs() / 1000) + this.state.aheadSeconds;
  }

  /** The time of a customer. */
  nowFor(customer: string): number {
    return this.now(this.store.customers.get(customer)?.test_clock ?? null);
  }

  /** Runs changes as of a moment that is past by now. */
  at<T>(clock: string | null, moment: number, work: () => T): T {
    this.instants.set(clock, moment);
    try {
      return work();
    } finally {
      this.instants.delete(clock);
    }
  }

  /** Runs the changes of one request as one: all or none. */
  transact<T>(trace: RequestTrace, work: () => T): T {
    this.trace = trace;
    try {
      return this.store.transact(work);
    } finally {
      this.trace = NOBODY;
    }
  }

  /** Records an event and puts it on its way to the endpoints that want it. With the record as it was before, the event says what changed. */
  emit(type: string, record: AnyRecord, before?: AnyRecord): void {
    const object = this.views.of(record);
    const clock = this.clockOf(record);
    const event = this.store.events.put({
      ...{ id: newId('evt'), object: 'event', api_version: API_VERSION, created: this.now(clock), type },
      data: { object, ...(before && { previous_attributes: previousAttributes(this.views.of(before), object) }) },
      request: this.trace,
    });
    this.address(event.id, type);
  }

  private clockOf(record: AnyRecord): string | null {
    if ('test_clock' in record) return record.test_clock;
    const holder =
      'customer' in record && record.customer !== null ? this.store.customers.get(record.customer) : undefined;
    return holder?.test_clock ?? null;
  }

  private address(event: string, type: string): void {
    const { mode } = this.state.webhooks;
    for (const { id, status, enabled_events } of this.store.webhookEndpoints.oldestFirst()) {
      if (status !== 'enabled' || !(enabled_events.includes('*') || enabled_events.includes(type))) continue;
      const state = mode === 'send' ? 'waiting' : mode === 'hold' ? 'held' : 'lost';
      this.store.deliveries.put({
        ...{ id: deliveryId(event, id), object: 'delivery', created: 0, event, endpoint: id, attempts: 0 },
        ...{ nextAtMs: state === 'waiting' ? this.options.wallMs() : null, state, lastStatus: null },
      });
    }
  }

  private plan(record: AnyRecord): void {
    const at = this.options.dueAt(record);
    if (at !== undefined && 'test_clock' in record) this.schedule.of(record.test_clock).add({ at, id: record.id });
  }
}

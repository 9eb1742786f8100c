import { StripeFault } from '../wire/stripe-fault.js';
import { Collection } from './collection.js';
import { Journal, type Change } from './journal.js';
import type { AnyRecord, Kind, Records } from './records.js';

/** A collection of any kind, for what treats all kinds alike. */
interface AnyCollection {
  get(id: string): AnyRecord | undefined;
  set(id: string, record: AnyRecord | undefined): void;
  oldestFirst(): Generator<AnyRecord>;
}

/**
 * Everything the simulator knows, in memory, with a journal in the data folder if there is one. Changes are made inside
 * `transact`: all of them count or none, and they are in the journal before it returns.
 */
export class Store {
  private readonly collections = new Map<string, AnyCollection>();
  private readonly undo = new Map<string, () => void>();
  private readonly touched = new Map<string, { kind: Kind; id: string }>();
  private readonly listeners: ((records: AnyRecord[]) => void)[] = [];
  private readonly journal: Journal | undefined;
  private isOpen = false;

  readonly customers = this.collection('customers');
  readonly products = this.collection('products');
  readonly prices = this.collection('prices');
  readonly paymentMethods = this.collection('paymentMethods');
  readonly subscriptions = this.collection('subscriptions');
  readonly pendingItems = this.collection('pendingItems');
  readonly invoices = this.collection('invoices');
  readonly paymentIntents = this.collection('paymentIntents');
  readonly invoicePayments = this.collection('invoicePayments');
  readonly charges = this.collection('charges');
  readonly refunds = this.collection('refunds');
  readonly creditNotes = this.collection('creditNotes');
  readonly checkoutSessions = this.collection('checkoutSessions');
  readonly portalConfigurations = this.collection('portalConfigurations');
  readonly portalSessions = this.collection('portalSessions');
  readonly webhookEndpoints = this.collection('webhookEndpoints');
  readonly events = this.collection('events');
  readonly deliveries = this.collection('deliveries');
  readonly testClocks = this.collection('testClocks');
  readonly keptAnswers = this.collection('keptAnswers');
  readonly simulator = this.collection('simulator');

  constructor(dataDir?: string) {
    if (dataDir === undefined) return;
    this.journal = new Journal(dataDir);
    for (const [kind, id, record] of this.journal.read())
      this.collections.get(kind)?.set(id, (record as AnyRecord | null) ?? undefined);
    this.journal.rewrite(this.everything());
  }

  /** The record that an id stands for, whatever its kind. */
  find(id: string): AnyRecord | undefined {
    for (const collection of this.collections.values()) {
      const record = collection.get(id);
      if (record) return record;
    }
    return undefined;
  }

  /** Every record. */
  *records(): Generator<AnyRecord> {
    for (const collection of this.collections.values()) yield* collection.oldestFirst();
  }

  /** Is called after each transaction with the records that it made or changed. */
  onCommit(listener: (records: AnyRecord[]) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Runs changes as one: an error undoes them, except a `StripeFault` that keeps them. Inside another transaction it is
   * part of that one. The work is synchronous: no other request comes between.
   */
  transact<T>(work: () => T): T {
    if (this.isOpen) return work();
    this.isOpen = true;
    try {
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      if (error instanceof StripeFault && error.keepsChanges) this.commit();
      else this.rollBack();
      throw error;
    } finally {
      this.isOpen = false;
    }
  }

  close(): void {
    this.journal?.close();
  }

  private collection<K extends Kind>(kind: K): Collection<Records[K]> {
    const made = new Collection<Records[K]>((id, before) => {
      if (!this.isOpen) throw new Error(`${kind} ${id} was changed outside a transaction.`);
      const key = `${kind} ${id}`;
      if (!this.undo.has(key)) this.undo.set(key, () => made.set(id, before));
      this.touched.set(key, { kind, id });
    });
    this.collections.set(kind, made);
    return made;
  }

  private commit(): void {
    const changes = [...this.touched.values()].map(({ kind, id }): Change => [
      kind,
      id,
      this.collections.get(kind)?.get(id) ?? null,
    ]);
    if (changes.length > 0) this.journal?.append(changes);
    if (this.journal?.isLong === true) this.journal.rewrite(this.everything());
    this.undo.clear();
    this.touched.clear();
    const records = changes.flatMap(([kind, id]) => this.collections.get(kind)?.get(id) ?? []);
    for (const listener of this.listeners) listener(records);
  }

  private rollBack(): void {
    for (const restore of this.undo.values()) restore();
    this.undo.clear();
    this.touched.clear();
  }

  private *everything(): Generator<Change> {
    for (const [kind, collection] of this.collections)
      for (const record of collection.oldestFirst()) yield [kind, record.id, record];
  }
}

import { CompactCopies } from '../wire/compact-copies.js';
import type { Connection } from './connection.js';

/** A stanza that passed a connection; `in` is from the client. */
export interface TracedStanza {
  /** Counts up, over all connections. */
  seq: number;
  connection: number;
  /** Who was logged in; absent while a client is linked. */
  phone?: string;
  device?: number;
  atMs: number;
  direction: 'in' | 'out';
  /** The stanza as it was in its frame, decrypted. */
  bytes: Uint8Array;
}

/** What the stored stanzas may take together. */
const LIMIT_BYTES = 8 * 1024 * 1024;
/** What storing one takes besides its bytes. */
const ENTRY_BYTES = 200;

/** The last stanzas of all connections, the newest ones that fit into a fixed amount of memory. */
export class Trace {
  private entries: TracedStanza[] = [];
  /** Entries before this place were dropped; the list is cut when half of it is such. */
  private first = 0;
  private size = 0;
  private lastSeq = 0;
  private readonly copies = new CompactCopies();

  constructor(
    private readonly now: () => number,
    private readonly limitBytes = LIMIT_BYTES,
  ) {}

  add(connection: Connection, direction: 'in' | 'out', bytes: Uint8Array): void {
    const { device } = connection;
    this.entries.push({
      seq: ++this.lastSeq,
      connection: connection.id,
      ...(device && { phone: device.account.phone, device: device.id }),
      atMs: this.now(),
      direction,
      bytes: this.copies.of(bytes),
    });
    this.size += bytes.length + ENTRY_BYTES;
    while (this.size > this.limitBytes) this.size -= (this.entries[this.first++]?.bytes.length ?? 0) + ENTRY_BYTES;
    if (this.first * 2 > this.entries.length) {
      this.entries = this.entries.slice(this.first);
      this.first = 0;
    }
  }

  /** The stanzas that fit, the oldest first. */
  all(fits: (entry: TracedStanza) => boolean = () => true): TracedStanza[] {
    return this.entries.slice(this.first).filter(fits);
  }

  clear(): void {
    this.entries = [];
    this.first = 0;
    this.size = 0;
  }
}

import { decodeNode, encodeNode, type Node } from '../wire/node.js';

/** A waiting stanza as it is stored on disk: its encoded bytes. */
export type QueuedState = Buffer;

/**
 * What a device has not confirmed yet, in order. Guarantee: a stanza leaves the queue only when the device confirmed it
 * (a receipt of any type but `retry`, or an `ack`), so whatever a connection loses is sent again at the next login.
 */
export class StanzaQueue {
  private readonly waiting: Node[];
  private readonly emptied: (() => void)[] = [];

  constructor(state: QueuedState[] = []) {
    this.waiting = state.map((bytes) => decodeNode(bytes));
  }

  get size(): number {
    return this.waiting.length;
  }

  push(stanza: Node): void {
    this.waiting.push(stanza);
  }

  /** Everything that waits, oldest first. */
  all(): readonly Node[] {
    return this.waiting;
  }

  /**
   * Removes the oldest stanza with this tag and id (and type, when given: several receipts share one id). Returns whether
   * there was one. Ids are matched without the sender: confirmations of own-device messages do not always name it.
   */
  confirm(tag: string, id: string, type?: string): boolean {
    const index = this.waiting.findIndex(
      (stanza) =>
        stanza.tag === tag &&
        stanza.attrs['id'] === id &&
        (tag !== 'receipt' || (stanza.attrs['type'] ?? '') === (type ?? '')),
    );
    if (index < 0) return false;
    this.waiting.splice(index, 1);
    if (this.waiting.length === 0) for (const resolve of this.emptied.splice(0)) resolve();
    return true;
  }

  /** Resolves when everything has been confirmed. */
  async whenEmpty(): Promise<void> {
    if (this.waiting.length > 0) await new Promise<void>((resolve) => this.emptied.push(resolve));
  }

  snapshot(): QueuedState[] {
    return this.waiting.map((stanza) => Buffer.from(encodeNode(stanza)));
  }
}

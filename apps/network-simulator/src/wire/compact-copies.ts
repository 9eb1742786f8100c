const SLAB_BYTES = 64 * 1024;
const LARGE_BYTES = SLAB_BYTES / 4;

/**
 * Copies of bytes that stay for long, one after the other in memory of their own. What libraries hand out are views into Node's
 * shared pool or into whole stanzas: holding such a view of a few bytes holds 8 KiB, on Node 24 64 KiB, for every message. Those
 * who drop what they keep in another order need copies of their own: a copy is freed with the last one beside it.
 */
export class CompactCopies {
  private slab = Buffer.alloc(0);

  of(bytes: Uint8Array): Buffer {
    if (bytes.length >= LARGE_BYTES) return Buffer.from(Uint8Array.from(bytes).buffer);
    if (bytes.length > this.slab.length) this.slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    const copy = this.slab.subarray(0, bytes.length);
    this.slab = this.slab.subarray(bytes.length);
    copy.set(bytes);
    return copy;
  }
}

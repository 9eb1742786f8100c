const SLAB_BYTES = 64 * 1024;
const LARGE_BYTES = SLAB_BYTES / 4;

let slab = Buffer.alloc(0);

/**
 * A copy of bytes that stay for long, beside others of their kind. What libraries hand out are views into Node's shared
 * pool or into whole stanzas: holding such a view of a few bytes would hold 8 KiB and more, for every message.
 */
export function compactCopy(bytes: Uint8Array): Buffer {
  if (bytes.length >= LARGE_BYTES) return Buffer.from(Uint8Array.from(bytes).buffer);
  if (bytes.length > slab.length) slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  const copy = slab.subarray(0, bytes.length);
  slab = slab.subarray(bytes.length);
  copy.set(bytes);
  return copy;
}

import type { ConnectionFilter } from '@dormouse/stack/test-fault-proxy';

/** Type of a message of PostgreSQL and, behind it, its length. */
const HEADER_BYTES = 5;
const READY_FOR_QUERY = 'Z';
const NOTIFICATION = 'A';

/**
 * Has a proxy before PostgreSQL deliver like a pooler in transaction mode: a client that has no query under way is
 * connected to no server, and what is notified then is lost.
 */
export function poolerInTransactionMode(): ConnectionFilter {
  let idle = false;
  let unread = Buffer.alloc(0);
  return {
    request: (bytes) => {
      idle = false;
      return bytes;
    },
    answer: (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      const passed: Buffer[] = [];
      while (unread.length >= HEADER_BYTES && unread.length > unread.readUInt32BE(1)) {
        const message = unread.subarray(0, unread.readUInt32BE(1) + 1);
        unread = unread.subarray(message.length);
        const type = String.fromCharCode(message[0] ?? 0);
        if (type === READY_FOR_QUERY) idle = true;
        if (type !== NOTIFICATION || !idle) passed.push(message);
      }
      return Buffer.concat(passed);
    },
  };
}

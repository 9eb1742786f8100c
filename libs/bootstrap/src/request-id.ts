import { randomBytes } from 'node:crypto';

/** A UUID version 7: the first 48 bits are the time, so ids sort by it (RFC 9562, section 5.7). */
export function newRequestId(nowMs = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;

/** The caller's own request id where it can be logged and sent back as it is, else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && SANE.test(header) ? header : newRequestId();
}

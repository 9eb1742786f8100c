import type { ByteRange } from '@dormouse/object-storage';

/**
 * Reads a Range header (RFC 9110, section 14.2) against a file of `size` bytes.
 * @returns the requested part; 'unsatisfiable' when the file has none of it; undefined for the whole file: no header,
 * another unit, several ranges, or no valid range
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const found = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '');
  const [, first = '', last = ''] = found ?? [];
  if (!found || (first === '' && last === '')) return undefined;
  if (first === '') return Number(last) === 0 || size === 0 ? 'unsatisfiable' : { last: Math.min(Number(last), size) };
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'unsatisfiable';
  return last === '' ? { start } : { start, end: Math.min(Number(last), size - 1) };
}

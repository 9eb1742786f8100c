/** Reads from an Ogg file (RFC 3533) whether it is a single Opus stream (RFC 7845), and its length. */
import { open } from 'node:fs/promises';

/** An Opus stream in an Ogg file, as phones record voice notes. */
export interface OggOpus {
  channels: number;
  seconds: number;
}

/** A page has at most 65,307 bytes: the first two pages are read, and at the end at least one whole page. */
const START_BYTES = 2 * 65_307;
const END_BYTES = 2 * 65_307;
const PAGE_HEADER_BYTES = 27;
/** Granule positions of Opus count at this rate, whatever the input's rate was. */
const GRANULE_RATE = 48_000;

interface Page {
  begins: boolean;
  granule: bigint;
  serial: number;
  body: Buffer;
  next: number;
}

function pageAt(bytes: Buffer, at: number): Page | undefined {
  if (bytes.length < at + PAGE_HEADER_BYTES || bytes.toString('latin1', at, at + 4) !== 'OggS') return undefined;
  if (bytes[at + 4] !== 0) return undefined;
  const segments = bytes[at + 26] ?? 0;
  const bodyAt = at + PAGE_HEADER_BYTES + segments;
  if (bytes.length < bodyAt) return undefined;
  const bodyLength = bytes.subarray(at + PAGE_HEADER_BYTES, bodyAt).reduce((sum, length) => sum + length, 0);
  return {
    begins: ((bytes[at + 5] ?? 0) & 2) !== 0,
    granule: bytes.readBigInt64LE(at + 6),
    serial: bytes.readUInt32LE(at + 14),
    body: bytes.subarray(bodyAt, bodyAt + bodyLength),
    next: bodyAt + bodyLength,
  };
}

/** The granule position at the end of a stream. Pages on which no packet ends have -1 and are skipped. */
function lastGranule(end: Buffer, serial: number): bigint | undefined {
  for (let at = end.lastIndexOf('OggS'); at >= 0; at = at === 0 ? -1 : end.lastIndexOf('OggS', at - 1)) {
    const page = pageAt(end, at);
    if (page && page.serial === serial && page.granule >= 0n) return page.granule;
  }
  return undefined;
}

async function ends(path: string): Promise<{ start: Buffer; end: Buffer }> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const part = async (from: number, length: number) => {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - from)));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
      return bytes.subarray(0, bytesRead);
    };
    return { start: await part(0, START_BYTES), end: await part(Math.max(0, size - END_BYTES), END_BYTES) };
  } finally {
    await handle.close();
  }
}

/** @returns undefined when the file is not a single mono or stereo Opus stream in Ogg */
export async function readOggOpus(path: string): Promise<OggOpus | undefined> {
  const { start, end } = await ends(path);
  const first = pageAt(start, 0);
  if (!first?.begins || first.body.length < 19 || first.body.toString('latin1', 0, 8) !== 'OpusHead') return undefined;
  const [version = 0xff, channels = 0] = [first.body[8], first.body[9]];
  const mappingFamily = first.body[18];
  if (version >> 4 !== 0 || channels < 1 || channels > 2 || mappingFamily !== 0) return undefined;
  const second = pageAt(start, first.next);
  // A second stream would begin on the second page.
  if (!second || second.begins || second.body.toString('latin1', 0, 8) !== 'OpusTags') return undefined;
  const preSkip = first.body.readUInt16LE(10);
  const last = lastGranule(end, first.serial);
  if (last === undefined) return undefined;
  return { channels, seconds: Math.max(0, Number(last) - preSkip) / GRANULE_RATE };
}

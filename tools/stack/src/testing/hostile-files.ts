/** For specs and benchmarks: small files that claim, or decompress to, large contents. */
import { constants, crc32, deflateRawSync, deflateSync } from 'node:zlib';

const MIB = 1024 * 1024;

/** `count` zero bytes as a zlib stream, made by repeating one compressed block. */
function packedZeros(count: number): Buffer {
  const block = deflateRawSync(Buffer.alloc(MIB), { finishFlush: constants.Z_FULL_FLUSH });
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((((count % 65_521) << 16) | 1) >>> 0);
  const blocks = Array.from({ length: Math.floor(count / MIB) }, () => block);
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, deflateRawSync(Buffer.alloc(count % MIB)), checksum]);
}

function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** Adam7: where each pass begins, and how far its pixels are apart. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** A transparent PNG with 16 bit per channel, interlaced by default. */
export function zeroPng({ width, height, interlaced = true }: { width: number; height: number; interlaced?: boolean }) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([16, 6, 0, 0, interlaced ? 1 : 0], 8);
  const rows = (columns: number, count: number) => (columns > 0 ? (1 + columns * 8) * Math.max(0, count) : 0);
  const bytes = interlaced
    ? PASSES.reduce((sum, [x, y, dx, dy]) => sum + rows(Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)), 0)
    : rows(width, height);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const image = pngChunk('IDAT', packedZeros(bytes));
  return Buffer.concat([signature, pngChunk('IHDR', header), image, pngChunk('IEND', Buffer.alloc(0))]);
}

/** A GIF of as many frames of 1 x 1 pixel. */
export function framesGif(frames: number): Buffer {
  const header = Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from('0100010080000000000000ffffff', 'hex').subarray(0, 13),
  ]);
  const loops = Buffer.from('21ff0b4e45545343415045322e300301000000', 'hex');
  const frame = Buffer.from('21f90404040000002c0000000001000100000202440100', 'hex');
  return Buffer.concat([header, loops, ...Array.from({ length: frames }, () => frame), Buffer.from('3b', 'hex')]);
}

/** A PDF whose cross-reference has as many empty ranges. */
export function emptyRangesPdf(ranges: number): Buffer {
  return Buffer.from(`%PDF-1.4\nxref\n${'0 0\n'.repeat(ranges)}startxref\n9\n%%EOF`);
}

/** A PDF of as many chained cross-reference streams, 16 MiB each when unpacked. */
export function largeStreamsPdf(streams: number): Buffer {
  const data = deflateSync(Buffer.alloc(16 * MIB));
  const parts = [Buffer.from('%PDF-1.5\n')];
  let end = 9;
  let previous = 0;
  for (let number = 1; number <= streams; number += 1) {
    const chain = number === 1 ? '' : ` /Prev ${previous}`;
    const dictionary = `<< /Type /XRef /W [1 4 2] /Size 2000000 /Length ${data.length} /Filter /FlateDecode${chain} >>`;
    const part = [Buffer.from(`${number} 0 obj\n${dictionary}\nstream\n`), data, Buffer.from('\nendstream\nendobj\n')];
    previous = end;
    end += part.reduce((sum, { length }) => sum + length, 0);
    parts.push(...part);
  }
  return Buffer.concat([...parts, Buffer.from(`startxref\n${previous}\n%%EOF`)]);
}

/** Hours of silence: one Opus packet of 60 ms repeated, in Ogg pages of 200 packets. */
export function silentOpus(hours: number): Buffer {
  const packet = Buffer.from('58fffe', 'hex'); // 60 ms of mono silence
  const samples = 2_880;
  const pages = Math.ceil((hours * 3_600 * 48_000) / (samples * 200));
  const head = Buffer.concat([Buffer.from('OpusHead'), Buffer.from('0101380180bb0000000000', 'hex')]);
  const tags = Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(8)]);
  const parts = [oggPage([head], { number: 0, granule: 0, flags: 2 }), oggPage([tags], { number: 1, granule: 0 })];
  const packets = Array.from({ length: 200 }, () => packet);
  for (let page = 1; page <= pages; page += 1) {
    parts.push(oggPage(packets, { number: page + 1, granule: page * 200 * samples }));
  }
  return Buffer.concat(parts);
}

const OGG_CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value >>> 0;
});

function oggPage(
  packets: readonly Buffer[],
  { number, granule, flags = 0 }: { number: number; granule: number; flags?: number },
): Buffer {
  const header = Buffer.alloc(27 + packets.length);
  header.write('OggS', 0);
  header[5] = flags;
  header.writeBigInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(1, 14);
  header.writeUInt32LE(number, 18);
  header[26] = packets.length;
  packets.forEach(({ length }, index) => (header[27 + index] = length));
  const page = Buffer.concat([header, ...packets]);
  let crc = 0;
  for (const byte of page) crc = ((crc << 8) ^ (OGG_CRC[((crc >>> 24) ^ byte) & 255] ?? 0)) >>> 0;
  page.writeUInt32LE(crc, 22);
  return page;
}

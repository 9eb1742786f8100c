/**
 * The page count of a PDF, read from its page tree (ISO 32000-1, 7.5 and 7.7): trailer, catalog, root of the pages. The
 * number of reads and the memory are bounded for any file. Files that cannot be read (damaged, wholly encrypted, unusual)
 * have no page count; it is never guessed. Runs in the media process, which is killed when it takes too long.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

const TAIL_BYTES = 2_048;
const OBJECT_BYTES = 16 * 1_024;
/** Bounds of a cross-reference or object stream, packed and unpacked. */
const PACKED_BYTES = 8 * 1_024 * 1_024;
const UNPACKED_BYTES = 16 * 1_024 * 1_024;
/** All streams of a file together, unpacked. */
const ALL_UNPACKED_BYTES = 2 * UNPACKED_BYTES;
const MAX_SECTIONS = 32;
/** Ranges of objects, in the tables of all sections together. */
const MAX_RANGES = 1_024;
/** Bound on reads, for files whose objects refer to each other in a circle. */
const MAX_READS = 4_096;
const TABLE_ENTRY_BYTES = 20;
const MAX_PAGES = 1_000_000;

const unpack = promisify(inflate);

type Place = { at: number } | { stream: number; index: number };
/** One section of the cross-reference: finds the place of an object, if the section lists it. */
type Section = (object: number) => Promise<Place | undefined> | Place | undefined;

interface SectionRead {
  section: Section;
  /** Text of the trailer dictionary. */
  trailer: string;
}

function numberOf(dictionary: string, name: string): number | undefined {
  const found = new RegExp(`/${name}\\s+(\\d+)(?!\\s+\\d+\\s+R)`).exec(dictionary);
  return found ? Number(found[1]) : undefined;
}

function referenceOf(dictionary: string, name: string): number | undefined {
  const found = new RegExp(`/${name}\\s+(\\d+)\\s+\\d+\\s+R`).exec(dictionary);
  return found ? Number(found[1]) : undefined;
}

/** Reverses the PNG filters (RFC 2083, 6) of cross-reference streams. */
function unfilter(bytes: Buffer, columns: number): Buffer {
  const rows = Math.floor(bytes.length / (columns + 1));
  const out = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const filter = bytes[row * (columns + 1)];
    if (filter === undefined || (filter !== 0 && filter !== 1 && filter !== 2)) throw new Error('unusual filter');
    for (let column = 0; column < columns; column += 1) {
      const at = row * columns + column;
      const raw = bytes[row * (columns + 1) + 1 + column] ?? 0;
      const left = filter === 1 && column > 0 ? (out[at - 1] ?? 0) : 0;
      const up = filter === 2 && row > 0 ? (out[at - columns] ?? 0) : 0;
      out[at] = raw + left + up;
    }
  }
  return out;
}

class PdfFile {
  readonly #sections: Section[] = [];
  #root: number | undefined;
  #reads = 0;
  #ranges = 0;
  #unpackedBytes = 0;

  constructor(
    private readonly handle: FileHandle,
    private readonly size: number,
  ) {}

  async pages(): Promise<number | undefined> {
    const tail = await this.#text(Math.max(0, this.size - TAIL_BYTES), TAIL_BYTES);
    const starts = [...tail.matchAll(/startxref\s+(\d+)/g)].pop();
    await this.#readSections(Number(starts?.[1]));
    if (this.#root === undefined) return undefined;
    const pagesAt = referenceOf(await this.#object(this.#root), 'Pages');
    if (pagesAt === undefined) return undefined;
    const count = await this.#number(await this.#object(pagesAt), 'Count');
    return count !== undefined && count > 0 && count <= MAX_PAGES ? count : undefined;
  }

  async #bytes(at: number, length: number): Promise<Buffer> {
    this.#reads += 1;
    if (this.#reads > MAX_READS) throw new Error('too many reads');
    if (!Number.isSafeInteger(at) || at < 0 || at >= this.size) throw new Error('points outside the file');
    const bytes = Buffer.alloc(Math.min(length, this.size - at));
    const { bytesRead } = await this.handle.read(bytes, 0, bytes.length, at);
    return bytes.subarray(0, bytesRead);
  }

  async #text(at: number, length: number): Promise<string> {
    return (await this.#bytes(at, length)).toString('latin1');
  }

  /** Follows the chain from the newest section to the oldest. */
  async #readSections(newest: number): Promise<void> {
    const waiting = [newest];
    const seen = new Set<number>();
    for (let at = waiting.shift(); at !== undefined && seen.size < MAX_SECTIONS; at = waiting.shift()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const isTable = /^\s*xref\b/.test(await this.#text(at, 32));
      const { section, trailer } = isTable ? await this.#table(at) : await this.#xrefStream(at);
      this.#sections.push(section);
      this.#root ??= referenceOf(trailer, 'Root');
      const further = [numberOf(trailer, 'XRefStm'), numberOf(trailer, 'Prev')];
      waiting.push(...further.filter((one) => one !== undefined));
    }
  }

  async #table(start: number): Promise<SectionRead> {
    const parts: { first: number; count: number; at: number }[] = [];
    let at = start + (/^\s*xref\s*/.exec(await this.#text(start, 64))?.[0].length ?? 0);
    for (;;) {
      const head = /^\s*(\d+) (\d+)\s*/.exec(await this.#text(at, 64));
      if (!head) break;
      this.#countRanges(1);
      at += head[0].length;
      parts.push({ first: Number(head[1]), count: Number(head[2]), at });
      at += Number(head[2]) * TABLE_ENTRY_BYTES;
    }
    const trailer = await this.#text(at, OBJECT_BYTES);
    if (!/^\s*trailer/.test(trailer)) throw new Error('no trailer after the table');
    const section: Section = async (object) => {
      const part = parts.find(({ first, count }) => object >= first && object < first + count);
      if (!part) return undefined;
      const entry = await this.#text(part.at + (object - part.first) * TABLE_ENTRY_BYTES, TABLE_ENTRY_BYTES);
      const found = /^(\d{10}) \d{5} n/.exec(entry);
      return found ? { at: Number(found[1]) } : undefined;
    };
    return { section, trailer: trailer.split('startxref')[0] ?? '' };
  }

  async #xrefStream(at: number): Promise<SectionRead> {
    const { dictionary, data } = await this.#stream(at);
    const widths = /\/W\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s*\]/.exec(dictionary)?.slice(1).map(Number);
    if (!widths) throw new Error('no cross-reference stream');
    const [typeWidth = 0, middleWidth = 0, lastWidth = 0] = widths;
    const width = typeWidth + middleWidth + lastWidth;
    if (width === 0 || width > 32) throw new Error('unusual widths');
    const index = /\/Index\s*\[([\d\s]*)\]/.exec(dictionary)?.[1];
    const ranges = index?.trim().split(/\s+/).map(Number) ?? [0, numberOf(dictionary, 'Size') ?? 0];
    this.#countRanges(ranges.length / 2);
    const field = (from: number, length: number) =>
      data.subarray(from, from + length).reduce((value, byte) => value * 256 + byte, 0);
    const section: Section = (object) => {
      let row = 0;
      for (let pair = 0; pair + 1 < ranges.length; pair += 2) {
        const [first = 0, count = 0] = [ranges[pair], ranges[pair + 1]];
        if (object >= first && object < first + count) {
          const entry = (row + object - first) * width;
          if (entry + width > data.length) return undefined;
          const type = typeWidth === 0 ? 1 : field(entry, typeWidth);
          const middle = field(entry + typeWidth, middleWidth);
          if (type === 1) return { at: middle };
          return type === 2 ? { stream: middle, index: field(entry + typeWidth + middleWidth, lastWidth) } : undefined;
        }
        row += count;
      }
      return undefined;
    };
    return { section, trailer: dictionary };
  }

  #countRanges(more: number): void {
    this.#ranges += more;
    if (this.#ranges > MAX_RANGES) throw new Error('too many ranges');
  }

  /** Reads the stream object at a place: its dictionary and its bytes, unpacked. */
  async #stream(at: number): Promise<{ dictionary: string; data: Buffer }> {
    const text = await this.#text(at, OBJECT_BYTES);
    const head = /^\s*\d+ \d+ obj([\s\S]*?)\bstream\r?\n/.exec(text);
    const dictionary = head?.[1];
    if (!head || dictionary === undefined) throw new Error('no stream there');
    const length = await this.#number(dictionary, 'Length');
    if (length === undefined || length > PACKED_BYTES) throw new Error('no usable length');
    const packed = await this.#bytes(at + head[0].length, length);
    const filter = /\/Filter\s*(?:\[\s*)?\/(\w+)/.exec(dictionary)?.[1];
    if (filter !== undefined && filter !== 'FlateDecode') throw new Error('unusual packing');
    const maxOutputLength = Math.min(UNPACKED_BYTES, ALL_UNPACKED_BYTES - this.#unpackedBytes);
    const data = filter ? await unpack(packed, { maxOutputLength: Math.max(1, maxOutputLength) }) : packed;
    this.#unpackedBytes += data.length;
    if (this.#unpackedBytes > ALL_UNPACKED_BYTES) throw new Error('too much to unpack');
    const predicted = (numberOf(dictionary, 'Predictor') ?? 1) >= 10;
    return { dictionary, data: predicted ? unfilter(data, numberOf(dictionary, 'Columns') ?? 1) : data };
  }

  /** A number in a dictionary, also where it is an object of its own. */
  async #number(dictionary: string, name: string): Promise<number | undefined> {
    const reference = referenceOf(dictionary, name);
    if (reference === undefined) return numberOf(dictionary, name);
    const text = /^\s*(\d+)/.exec(await this.#object(reference));
    return text ? Number(text[1]) : undefined;
  }

  /** The text of an object, by its number. */
  async #object(object: number): Promise<string> {
    for (const section of this.#sections) {
      const place = await section(object);
      if (!place) continue;
      if ('stream' in place) return this.#packedObject(place.stream, object);
      const text = await this.#text(place.at, OBJECT_BYTES);
      const body = /^\s*(\d+) \d+ obj([\s\S]*?)(?:endobj|$)/.exec(text);
      if (Number(body?.[1]) !== object) throw new Error('another object is there');
      return body?.[2] ?? '';
    }
    throw new Error('no such object');
  }

  async #packedObject(stream: number, object: number): Promise<string> {
    for (const section of this.#sections) {
      const place = await section(stream);
      if (!place || 'stream' in place) continue;
      const { dictionary, data } = await this.#stream(place.at);
      const first = numberOf(dictionary, 'First') ?? 0;
      const numbers = data.toString('latin1', 0, first).trim().split(/\s+/).map(Number);
      for (let pair = 0; pair + 1 < numbers.length; pair += 2) {
        if (numbers[pair] !== object) continue;
        const end = numbers[pair + 3];
        return data.toString('latin1', first + (numbers[pair + 1] ?? 0), end === undefined ? undefined : first + end);
      }
    }
    throw new Error('no such packed object');
  }
}

/** The page count of the PDF at `path`; undefined when it cannot be read. */
export async function pdfPageCount(path: string): Promise<number | undefined> {
  const handle = await open(path);
  try {
    return await new PdfFile(handle, (await handle.stat()).size).pages();
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

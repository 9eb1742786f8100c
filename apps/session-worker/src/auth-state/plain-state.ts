/** A session's state in the form in which it is sealed as one value: whole in a snapshot, at least its pre-keys in the packed row. */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { z } from 'zod';
import { UnsealableError } from '../encryption/sealing.js';

const compress = promisify(deflateRaw);
const expand = promisify(inflateRaw);

/** Bound on the decompressed state, far above any real one. */
const MAX_STATE_BYTES = 256 * 1024 * 1024;
/** A state is rarely larger, expanded. Smaller chunks cost a task of the thread pool each. */
const chunkSize = 256 * 1024;
/** Most of a state is keys, which are random: more effort costs twice the time and saves 1 %. */
const COMPRESSION = { level: 1, chunkSize };

export interface PlainKey {
  readonly type: string;
  readonly id: string;
  readonly plain: Buffer;
}

/** Each value as it was stored, unsealed. */
export interface PlainState {
  readonly creds: Buffer;
  readonly keys: readonly PlainKey[];
}

const shape = z.object({ creds: z.string(), keys: z.array(z.tuple([z.string(), z.string(), z.string()])) });

/** The state as JSON: the same bytes for the same values in the same order. */
export function stateText({ creds, keys }: PlainState): Buffer {
  const plain: z.input<typeof shape> = {
    creds: creds.toString(),
    keys: keys.map(({ type, id, plain: value }) => [type, id, value.toString()]),
  };
  return Buffer.from(JSON.stringify(plain));
}

/** The text, compressed. */
export function packText(text: Buffer): Promise<Buffer> {
  return compress(text, COMPRESSION);
}

/**
 * @param place where it was found
 * @throws {UnsealableError} when it is not compressed
 */
export async function unpackText(place: string, packed: Buffer): Promise<Buffer> {
  return expand(packed, { maxOutputLength: MAX_STATE_BYTES, chunkSize }).catch(() => {
    throw new UnsealableError(place);
  });
}

/** @throws {UnsealableError} when it is no packed state */
export async function unpackState(place: string, packed: Buffer): Promise<PlainState> {
  const text = await unpackText(place, packed);
  const { creds, keys } = parse(place, text);
  return {
    creds: Buffer.from(creds),
    keys: keys.map(([type, id, value]) => ({ type, id, plain: Buffer.from(value) })),
  };
}

function parse(place: string, text: Buffer): z.output<typeof shape> {
  try {
    return shape.parse(JSON.parse(text.toString()));
  } catch {
    throw new UnsealableError(place);
  }
}

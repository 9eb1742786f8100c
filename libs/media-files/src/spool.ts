/**
 * Files on their way: written to disk as they arrive, counted and hashed while written, never whole in memory. What a
 * crash leaves behind is deleted at the next start, once it is older than any transfer.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteBudget, HeldBytes } from './byte-budget.js';

/** As much as type detection looks at. */
export const HEAD_BYTES = 4_100;
const LEFTOVER_AGE_MS = 6 * 60 * 60 * 1_000;

/** A file in the spool. The caller must dispose of it. */
export interface SpooledFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: Buffer;
  /** The first bytes, `HEAD_BYTES` at most. */
  readonly head: Buffer;
  /** Opens it for reading from the start. */
  read(): Readable;
  /** Deletes it; the second time does nothing. */
  dispose(): Promise<void>;
}

/** Watches a file while it is written. Throwing stops the transfer and deletes what was written. */
export interface SpoolWatch {
  /** Called with the size so far, before the bytes that make it up are written. */
  onSize?(size: number): void;
  /** Called once, with the first `HEAD_BYTES` or the whole of a shorter file. */
  onHead?(head: Buffer): Promise<void> | void;
  signal?: AbortSignal | undefined;
}

export class Spool {
  private constructor(
    readonly directory: string,
    private readonly budget: ByteBudget | undefined,
  ) {}

  /**
   * Makes the directory if needed and deletes what earlier processes left in it.
   * @param budget of the disk: what {@link Spool.keep} writes is held until the file is disposed of
   */
  static async open(directory: string, now: () => number = Date.now, budget?: ByteBudget): Promise<Spool> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      const age = await stat(path)
        .then((found) => now() - found.mtimeMs)
        .catch(() => 0);
      if (age > LEFTOVER_AGE_MS) await rm(path, { recursive: true, force: true });
    }
    return new Spool(directory, budget);
  }

  /** A path that nothing uses yet, for a program that writes its result to a file. */
  freshPath(extension = 'part'): string {
    return join(this.directory, `${randomUUID()}.${extension}`);
  }

  /**
   * Takes everything the source gives. On any failure the source is closed and nothing stays on disk.
   * @throws what the source or the watch throws, or the signal's reason; 503 when the disk's budget is used up
   */
  async keep(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, watch: SpoolWatch = {}): Promise<SpooledFile> {
    return this.#keep(source, watch);
  }

  async #keep(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, watch: SpoolWatch): Promise<SpooledFile> {
    const path = this.freshPath();
    const hash = createHash('sha256');
    const head = Buffer.alloc(HEAD_BYTES);
    let size = 0;
    const held = this.budget?.open();
    const handle = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of source) {
        watch.signal?.throwIfAborted();
        const before = size;
        size += chunk.length;
        watch.onSize?.(size);
        held?.hold(chunk.length);
        if (before < HEAD_BYTES) {
          head.set(chunk.subarray(0, HEAD_BYTES - before), before);
          if (size >= HEAD_BYTES) await watch.onHead?.(head);
        }
        hash.update(chunk);
        await writeWhole(handle, chunk);
      }
      watch.signal?.throwIfAborted();
      if (size < HEAD_BYTES) await watch.onHead?.(head.subarray(0, size));
      await handle.close();
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(path, { force: true });
      held?.release();
      throw error;
    }
    return spooled(path, size, hash.digest(), head.subarray(0, Math.min(size, HEAD_BYTES)), held);
  }

  /** Deletes what another program may have begun to write at `path`. */
  async discard(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** Takes over a file that another program wrote at `path`. */
  async adopt(path: string): Promise<SpooledFile> {
    const hash = createHash('sha256');
    const head = Buffer.alloc(HEAD_BYTES);
    let size = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      if (size < HEAD_BYTES) head.set(chunk.subarray(0, HEAD_BYTES - size), size);
      size += chunk.length;
      hash.update(chunk);
    }
    return spooled(path, size, hash.digest(), head.subarray(0, Math.min(size, HEAD_BYTES)));
  }
}

async function writeWhole(handle: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) {
    written += (await handle.write(chunk, written)).bytesWritten;
  }
}

function spooled(path: string, size: number, sha256: Buffer, head: Buffer, held?: HeldBytes): SpooledFile {
  return {
    path,
    size,
    sha256,
    head,
    read: () => createReadStream(path),
    dispose: async () => {
      await rm(path, { force: true });
      held?.release();
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { isObjectFailure, ObjectStorage } from '@dormouse/object-storage';
import type { BucketPlace } from './lost-stores.js';

const EVERY_MS = 500;

function opened({ endpoint, bucket, ...credentials }: BucketPlace): ObjectStorage {
  return new ObjectStorage({ endpoint, bucket, credentials });
}

/** What the runbook's replication does: copies what is new or changed, and deletes nothing. */
export async function copyBucket(from: BucketPlace, to: BucketPlace): Promise<number> {
  const [source, target] = [opened(from), opened(to)];
  try {
    let copied = 0;
    for await (const { key, etag } of source.list('')) {
      if ((await target.head(key))?.etag === etag) continue;
      const found = await source.get(key).catch((error: unknown) => {
        if (isObjectFailure(error, 'missing')) return undefined; // deleted since it was listed
        throw error;
      });
      if (!found) continue;
      const chunks: Buffer[] = [];
      for await (const chunk of found.stream) chunks.push(chunk as Buffer);
      await target.put(key, Buffer.concat(chunks), { contentType: found.contentType });
      copied += 1;
    }
    return copied;
  } finally {
    source.close();
    target.close();
  }
}

/** Copies again and again until it is stopped. */
export class BucketReplication {
  /** Everything that was in the bucket at this moment is in the copy; epoch milliseconds. */
  completeUntilMs = 0;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  constructor(from: BucketPlace, to: BucketPlace) {
    this.#running = this.#run(from, to);
    this.#running.catch(() => undefined); // awaited by stop
  }

  /** @throws what ended it before */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(from: BucketPlace, to: BucketPlace): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const beganMs = Date.now();
      await copyBucket(from, to);
      this.completeUntilMs = beganMs;
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

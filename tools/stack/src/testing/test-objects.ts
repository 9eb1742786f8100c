/**
 * Object storage for integration specs: a bucket of its own on a server of its own inside the spec's process, over a
 * folder that goes with it. The S3 protocol is spoken over the wire, as in production.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startObjectStore } from '../objects/object-store.js';

/** A bucket that belongs to one spec, and how to reach it. */
export interface TestBucket {
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Ends the server and deletes the objects. */
  drop(): Promise<void>;
}

/** A fresh, empty bucket (some 10 ms). */
export async function createTestBucket(): Promise<TestBucket> {
  const dir = await mkdtemp(join(tmpdir(), 'dormouse-objects-'));
  const credentials = { accessKeyId: 'spec', secretAccessKey: 'secret of a spec' };
  const store = await startObjectStore({ dir, port: 0, buckets: ['spec-bucket'], durable: false, ...credentials });
  return {
    endpoint: store.endpoint,
    bucket: 'spec-bucket',
    credentials,
    drop: async () => {
      await store.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

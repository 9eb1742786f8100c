/**
 * One bucket in a folder. Guarantees: an object is there whole or not at all, a conditional write decides against what
 * is there at the moment it commits, and a write that was answered survives a crash (and, when durable, a power cut).
 * How: bytes go to a file of their own first; the record that points to it is written beside and renamed, and between
 * the last look at the condition and the rename nothing else of this process runs.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFile } from './received-body.js';
import { S3Error } from './s3-error.js';

/** What is remembered of an object beside its bytes. */
export interface StoredObject {
  key: string;
  /** Name of the file with the bytes. */
  file: string;
  size: number;
  /** With its quotes. */
  etag: string;
  modifiedAt: string;
  /** Headers that come back as they were sent: content type, cache control, disposition, encoding, `x-amz-meta-*`. */
  headers: Record<string, string>;
}

/** Conditions of a write: RFC 9110 preconditions as S3 supports them. */
export interface Preconditions {
  ifMatch?: string;
  ifNoneMatch?: string;
}

export class Bucket {
  readonly #objects = new Map<string, StoredObject>();

  /** Opens the folder and reads its records; bytes without a record, left by a crash, are deleted. */
  constructor(
    readonly name: string,
    readonly folder: string,
    readonly durable: boolean,
  ) {
    mkdirSync(this.#path('records'), { recursive: true });
    mkdirSync(this.#path('bytes'), { recursive: true });
    for (const record of readdirSync(this.#path('records'))) {
      if (!record.endsWith('.json')) continue;
      const object = JSON.parse(readFileSync(this.#path('records', record), 'utf8')) as StoredObject;
      this.#objects.set(object.key, object);
    }
    const used = new Set([...this.#objects.values()].map((object) => object.file));
    for (const file of readdirSync(this.#path('bytes'))) {
      if (!used.has(file)) rmSync(this.#path('bytes', file), { force: true });
    }
  }

  #path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  #record(key: string): string {
    return this.#path('records', `${createHash('sha256').update(key).digest('hex')}.json`);
  }

  has(key: string): boolean {
    return this.#objects.has(key);
  }

  /** @throws {S3Error} NoSuchKey */
  find(key: string): StoredObject {
    const object = this.#objects.get(key);
    if (!object) throw new S3Error('NoSuchKey');
    return object;
  }

  /** Keys in S3's order: by their UTF-8 bytes. */
  keys(prefix: string): string[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix));
    return keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** A path for new bytes. They become an object by `commit`, or the caller deletes them. */
  newFile(): string {
    return this.#path('bytes', randomUUID());
  }

  bytesPath(object: StoredObject): string {
    return this.#path('bytes', object.file);
  }

  /** @throws {S3Error} PreconditionFailed, or NoSuchKey for If-Match on nothing */
  check(key: string, conditions: Preconditions): void {
    const current = this.#objects.get(key);
    if (conditions.ifNoneMatch !== undefined) {
      const matches = conditions.ifNoneMatch === '*' ? current !== undefined : current?.etag === conditions.ifNoneMatch;
      if (matches) throw new S3Error('PreconditionFailed');
    }
    if (conditions.ifMatch !== undefined) {
      if (!current) throw new S3Error('NoSuchKey');
      if (conditions.ifMatch !== '*' && conditions.ifMatch !== current.etag) throw new S3Error('PreconditionFailed');
    }
  }

  /**
   * Makes bytes from `newFile` the object of this key.
   * @throws {S3Error} when the conditions do not hold any more; the bytes are deleted then
   */
  async commit(
    object: Omit<StoredObject, 'modifiedAt' | 'file'> & { path: string },
    conditions: Preconditions = {},
  ): Promise<StoredObject> {
    const { path, ...rest } = object;
    try {
      if (this.durable) await flushFile(path);
      this.check(object.key, conditions);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    const file = path.slice(path.lastIndexOf('/') + 1);
    const stored: StoredObject = { ...rest, file, modifiedAt: new Date().toISOString() };
    const replaced = this.#objects.get(object.key);
    this.#writeRecord(stored);
    this.#objects.set(object.key, stored);
    // A reader that has the old bytes open keeps them.
    if (replaced) await rm(this.bytesPath(replaced), { force: true });
    return stored;
  }

  #writeRecord(object: StoredObject): void {
    const record = this.#record(object.key);
    const beside = `${record}.${randomUUID()}`;
    writeFileSync(beside, JSON.stringify(object));
    if (this.durable) flushNow(beside);
    renameSync(beside, record);
    if (this.durable) flushNow(this.#path('records'));
  }

  /** Deleting what is not there is no error. */
  async delete(key: string): Promise<void> {
    const object = this.#objects.get(key);
    if (!object) return;
    this.#objects.delete(key);
    rmSync(this.#record(key), { force: true });
    await rm(this.bytesPath(object), { force: true });
  }
}

function flushNow(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

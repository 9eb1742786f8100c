import { appendFile, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';

/** Bytes inside JSON: base64 under one reserved key. */
const BYTES_KEY = '$bytes';
const WRITES_AT_ONCE = 8;

/** JSON text of a value that may hold bytes anywhere. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, shown: unknown) {
    const real = this[key];
    return real instanceof Uint8Array || Buffer.isBuffer(real)
      ? { [BYTES_KEY]: Buffer.from(real).toString('base64') }
      : shown;
  });
}

/** The value that {@link toJson} wrote; bytes come back as Buffers. */
export function fromJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === 'object' && value !== null && BYTES_KEY in value) {
      return Buffer.from(String(value[BYTES_KEY]), 'base64');
    }
    return value;
  });
}

/**
 * Stores the network's state in a directory, or nowhere when there is none.
 *
 * Guarantee: a file is either the old or the new version, never a part (written beside, then renamed), and everything that
 * changed before `close` is on disk when it returns. Changes are collected for a moment, so that a busy phone is written twice a
 * second and thousands of idle ones never; what happened in that moment is lost if the process is killed outright.
 * When the disk refuses, the files stay marked and the next flush tries them again.
 */
export class Store {
  private readonly dirty = new Map<string, () => string | Uint8Array>();
  private readonly writing = new Map<string, () => string | Uint8Array>();
  private readonly appended = new Map<string, string[]>();
  private readonly madeFolders = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> = Promise.resolve();

  constructor(
    private readonly directory: string | undefined,
    private readonly log: Logger,
    private readonly delayMs = 500,
  ) {}

  get persistent(): boolean {
    return this.directory !== undefined;
  }

  /** Marks a JSON document as changed; `snapshot` is called for its content when it is written. */
  save(name: string, snapshot: () => unknown): void {
    if (!this.directory) return;
    this.dirty.set(name, () => toJson(snapshot()));
    this.schedule();
  }

  saveBytes(name: string, bytes: () => Uint8Array): void {
    if (!this.directory) return;
    this.dirty.set(name, bytes);
    this.schedule();
  }

  /** Bytes that were given to {@link saveBytes} and are not on disk yet. */
  unwritten(name: string): Buffer | undefined {
    const content = this.dirty.get(name) ?? this.writing.get(name);
    return content && Buffer.from(content());
  }

  /** Adds one record to a log of JSON lines. */
  append(name: string, record: unknown): void {
    if (!this.directory) return;
    const lines = this.appended.get(name) ?? [];
    lines.push(toJson(record));
    this.appended.set(name, lines);
    this.schedule();
  }

  async remove(name: string): Promise<void> {
    await this.removeAll((one) => one === name);
    if (this.directory) await rm(join(this.directory, name), { force: true });
  }

  /** Deletes a folder with all that is in it. */
  async removeFolder(folder: string): Promise<void> {
    await this.removeAll((one) => one.startsWith(`${folder}/`));
    this.madeFolders.clear();
    if (this.directory) await rm(join(this.directory, folder), { recursive: true, force: true });
  }

  async json(name: string): Promise<unknown> {
    const bytes = await this.bytes(name);
    return bytes && fromJson(bytes.toString('utf8'));
  }

  async bytes(name: string): Promise<Buffer | undefined> {
    if (!this.directory) return undefined;
    return readFile(join(this.directory, name)).catch((error: unknown) => absent(error));
  }

  /** The records of a log; a last line that was cut short by a kill is left out. */
  async lines(name: string): Promise<unknown[]> {
    const bytes = await this.bytes(name);
    if (!bytes) return [];
    const records: unknown[] = [];
    for (const line of bytes.toString('utf8').split('\n')) {
      if (!line) continue;
      try {
        records.push(fromJson(line));
      } catch {
        this.log.warn({ name }, 'a log line is cut short: left out');
      }
    }
    return records;
  }

  /** Names of the files in a folder of the store, with this ending. */
  async list(folder: string, ending: string): Promise<string[]> {
    if (!this.directory) return [];
    const names = await readdir(join(this.directory, folder)).catch((error: unknown) => absent(error));
    return (names ?? []).filter((name) => name.endsWith(ending)).map((name) => `${folder}/${name}`);
  }

  /** Writes all that changed so far. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.flushing = this.flushing.then(() => this.write());
    await this.flushing;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.timer);
  }

  /** Drops changes that are not written; what is being written just now is awaited, and not tried again. */
  private async removeAll(isMeant: (name: string) => boolean): Promise<void> {
    const drop = (): void => {
      for (const changes of [this.dirty, this.appended]) {
        for (const name of [...changes.keys()]) if (isMeant(name)) changes.delete(name);
      }
    };
    drop();
    await this.flushing;
    drop();
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => void this.flush(), this.delayMs);
  }

  private async write(): Promise<void> {
    const appends = [...this.appended];
    this.appended.clear();
    const documents = [...this.dirty];
    for (const [name, content] of documents) this.writing.set(name, content);
    this.dirty.clear();
    const jobs = [
      ...appends.map(
        ([name, lines]) =>
          () =>
            this.writeLines(name, lines),
      ),
      ...documents.map(
        ([name, content]) =>
          () =>
            this.writeDocument(name, content),
      ),
    ];
    const worker = async (): Promise<void> => {
      for (let job = jobs.shift(); job; job = jobs.shift()) await job();
    };
    await Promise.all(Array.from({ length: WRITES_AT_ONCE }, worker));
    this.writing.clear();
  }

  private async writeLines(name: string, lines: string[]): Promise<void> {
    const path = await this.pathOf(name);
    try {
      await appendFile(path, lines.join('\n') + '\n');
    } catch (error) {
      this.refused(name, error);
      this.appended.set(name, [...lines, ...(this.appended.get(name) ?? [])]);
      this.schedule();
    }
  }

  private async writeDocument(name: string, content: () => string | Uint8Array): Promise<void> {
    const path = await this.pathOf(name);
    try {
      await writeFile(`${path}.new`, content());
      await rename(`${path}.new`, path);
    } catch (error) {
      this.refused(name, error);
      if (!this.dirty.has(name)) this.dirty.set(name, content);
      this.schedule();
    }
  }

  private refused(name: string, error: unknown): void {
    this.log.error({ name, reason: String(error) }, 'cannot write: will try again');
    this.madeFolders.clear(); // one may have been deleted
  }

  private async pathOf(name: string): Promise<string> {
    const path = join(this.directory ?? '', name);
    const folder = dirname(path);
    if (!this.madeFolders.has(folder)) {
      await mkdir(folder, { recursive: true });
      this.madeFolders.add(folder);
    }
    return path;
  }
}

function absent(error: unknown): undefined {
  if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

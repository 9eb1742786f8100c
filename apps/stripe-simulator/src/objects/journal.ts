// The data folder: `journal.jsonl`, one line for each request that changed something, written before the request is
// answered. A process that is killed loses nothing that it has answered; a torn last line is a request that was never
// answered, and is cut off at the next start. At a start, and whenever the file has become long, it is written anew with
// what is in use, beside the old one and then in its place.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** One change: kind, id, and the record or null when it was removed. */
export type Change = [kind: string, id: string, record: object | null];

const FILE = 'journal.jsonl';
const REWRITE_BYTES = 64 * 1024 * 1024;

export class Journal {
  private readonly path: string;
  private file: number | undefined;
  private bytes = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.path = join(folder, FILE);
  }

  /** All changes so far, oldest first. Throws when a line other than the last cannot be read. */
  read(): Change[] {
    if (!existsSync(this.path)) return [];
    const lines = readFileSync(this.path, 'utf8').split('\n');
    // What follows the last line break was not written to its end.
    lines.pop();
    return lines.flatMap((line) => JSON.parse(line) as Change[]);
  }

  append(changes: Change[]): void {
    const line = `${JSON.stringify(changes)}\n`;
    this.file ??= openSync(this.path, 'a');
    this.bytes += writeSync(this.file, line);
  }

  get isLong(): boolean {
    return this.bytes > REWRITE_BYTES;
  }

  /** Replaces the whole file. */
  rewrite(changes: Iterable<Change>): void {
    this.close();
    const beside = `${this.path}.new`;
    const file = openSync(beside, 'w');
    for (const change of changes) writeSync(file, `${JSON.stringify([change])}\n`);
    closeSync(file);
    renameSync(beside, this.path);
    this.bytes = 0;
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

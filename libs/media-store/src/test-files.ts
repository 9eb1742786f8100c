/** For specs: a file as the edge takes it in. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { TakenFile } from '@dormouse/media-files';

export function fileOf(content: string | Buffer, facts: Partial<TakenFile> = {}): TakenFile {
  const bytes = Buffer.from(content);
  return {
    path: '',
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest(),
    head: bytes,
    read: () => Readable.from([bytes]),
    dispose: () => Promise.resolve(),
    mimeType: 'image/png',
    extension: 'png',
    fileName: 'dot.png',
    ...facts,
  };
}

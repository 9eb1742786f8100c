import { MAX_DATA_URI_HEADER } from '@dormouse/gateway-contract';

/** The beginning of a stream, as much as the header of a data: URI may have, and the whole stream from there again. */
export async function peek(source: AsyncIterable<Buffer>): Promise<{ head: Buffer; bytes: AsyncIterable<Buffer> }> {
  const chunks = source[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  let size = 0;
  let ended = false;
  while (!ended && size < MAX_DATA_URI_HEADER) {
    const next = await chunks.next();
    ended = next.done === true;
    if (next.done) break;
    begun.push(next.value);
    size += next.value.length;
  }
  const head = Buffer.concat(begun);
  const bytes = async function* (): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.();
    }
  };
  return { head, bytes: bytes() };
}

/** The bytes as text, cut between characters. */
export async function* textOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const utf8 = new TextDecoder();
  for await (const chunk of bytes) yield utf8.decode(chunk, { stream: true });
  yield utf8.decode();
}

import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { AwsChunkedDecoder } from './aws-chunked.js';

async function decode(body: string, pieceLength: number): Promise<{ bytes: string; trailers: Map<string, string> }> {
  const pieces = body.match(new RegExp(`[\\s\\S]{1,${pieceLength}}`, 'g')) ?? [];
  const decoder = new AwsChunkedDecoder();
  let bytes = '';
  await pipeline(
    Readable.from(pieces.map((piece) => Buffer.from(piece, 'latin1'))),
    decoder,
    async function collect(source: AsyncIterable<Buffer>) {
      for await (const chunk of source) bytes += chunk.toString('latin1');
    },
  );
  return { bytes, trailers: decoder.trailers };
}

const FRAMED = '5;chunk-signature=abc\r\nhello\r\nC\r\n, \r\n0\r\nworld\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n';

describe('aws-chunked framing', () => {
  it.each([1, 2, 3, 7, 1000])(
    'is taken off whatever pieces the body arrives in (%d bytes each)',
    async (pieceLength) => {
      const { bytes, trailers } = await decode(FRAMED, pieceLength);
      expect(bytes).toBe('hello, \r\n0\r\nworld');
      expect(trailers.get('x-amz-checksum-crc32')).toBe('AAAAAA==');
    },
  );

  it.each(['5\r\nhel', '5\r\nhello', 'zz\r\n', '2\r\nabcd\r\n0\r\n\r\n', ''])(
    'refuses a body cut short or framed wrong: %j',
    async (body) => {
      await expect(decode(body, 3)).rejects.toThrow('IncompleteBody');
    },
  );
});

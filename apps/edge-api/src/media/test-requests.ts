/** For specs: requests with files. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PIECE = 4 * 1024;

/** A JSON body. */
export const json = (body: unknown) => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** A multipart form; blobs are its files. */
export function form(parts: Record<string, string | Blob>, name = 'a.png'): FormData {
  const made = new FormData();
  for (const [key, part] of Object.entries(parts)) {
    if (typeof part === 'string') made.append(key, part);
    else made.append(key, part, name);
  }
  return made;
}

/** Sends without end until an answer comes. @returns the answer, and how many bytes were sent */
export function sendEndlessly(
  url: string,
  headers: Record<string, string>,
  start: Buffer,
): Promise<{ got: string; sent: number }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', headers });
    let sent = 0;
    let answered = false;
    const more = () => {
      while (!answered && outgoing.write(Buffer.alloc(PIECE))) sent += PIECE;
    };
    outgoing.on('response', (answer: IncomingMessage) => {
      answered = true;
      let got = `${answer.statusCode} `;
      answer.setEncoding('utf8').on('data', (text: string) => (got += text));
      answer.on('end', () => {
        outgoing.destroy();
        resolve({ got, sent });
      });
    });
    outgoing.on('error', (error) => {
      if (!answered) reject(error);
    });
    outgoing.on('drain', more);
    outgoing.write(start);
    more();
  });
}

/** Sends a body in pieces, each once the one before it has left, and reads nothing before the last; then reads to the end. */
export async function sendFirstReadLater(
  url: string,
  headers: Record<string, string>,
  pieces: readonly Buffer[],
): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.pause();
  const lengthBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const fields = Object.entries({ ...headers, host: hostname, 'content-length': lengthBytes });
  const head = [`POST ${pathname} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
  for (const piece of [head, ...pieces]) {
    await new Promise<void>((resolve, reject) => {
      socket.write(piece, (error) => (error ? reject(error) : setImmediate(resolve)));
    });
  }
  let got = '';
  for await (const chunk of socket.setEncoding('utf8')) got += String(chunk);
  return got;
}

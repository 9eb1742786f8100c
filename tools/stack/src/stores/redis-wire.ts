import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

const TIMEOUT_MS = 2_000;

/**
 * Sends a few commands over a connection of its own and returns the replies' lines (`+PONG`, `:3`, `-ERR ...`), one per
 * command. Only for commands with one-line replies: enough to see that a server lives and to claim a database.
 * @throws when the server cannot be reached or a reply is an error
 */
export async function redisLines(url: string, commands: readonly string[]): Promise<string[]> {
  const address = new URL(url);
  const port = Number(address.port || 6379);
  const host = address.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1';
  const secret = decodeURIComponent(address.password);
  const user = decodeURIComponent(address.username);
  const all = [...(secret ? [user ? `AUTH ${user} ${secret}` : `AUTH ${secret}`] : []), ...commands];
  const lines = await new Promise<string[]>((resolve, reject) => {
    const socket = address.protocol === 'rediss:' ? connectTls({ host, port }) : connect({ host, port });
    let text = '';
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('Redis does not answer.')));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('Redis closed the connection.')));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const received = text.split('\r\n').slice(0, -1);
      if (received.length < all.length) return;
      resolve(received);
      socket.destroy();
    });
    socket.write(all.map((command) => `${command}\r\n`).join(''));
  });
  const failure = lines.find((line) => line.startsWith('-'));
  if (failure !== undefined) throw new Error(`Redis refused: ${failure.slice(1)}`);
  return lines.slice(all.length - commands.length);
}

/** True if a Redis (or Valkey) answers there. */
export async function redisAnswers(url: string): Promise<boolean> {
  try {
    return (await redisLines(url, ['PING']))[0] === '+PONG';
  } catch {
    return false;
  }
}

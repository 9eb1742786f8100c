import jsQR from 'jsqr';
import { PNG } from 'pngjs';

const ATTEMPT_EVERY_MS = 100;

/**
 * What a person's camera does: fetches the login image of a channel and reads the code in it. Asks again while the
 * gateway is not ready to show one (503).
 * @throws when there is no image within the time, or no code in it
 */
export async function readLoginCode(edgeUrl: string, token: string, withinMs = 30_000): Promise<string> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const response = await fetch(`${edgeUrl}/users/login/image`, { headers: { authorization: `Bearer ${token}` } });
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status === 200) return decode(body);
    if (response.status !== 503 || Date.now() > deadline) {
      throw new Error(`No login image: ${response.status} ${body.toString('utf8')}`);
    }
    await new Promise((wake) => setTimeout(wake, ATTEMPT_EVERY_MS));
  }
}

function decode(image: Buffer): string {
  const { data, width, height } = PNG.sync.read(image);
  const code = jsQR.default(new Uint8ClampedArray(data), width, height);
  if (!code) throw new Error('The login image holds no code.');
  return code.data;
}

import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { Refusal } from '../network/refusal.js';

// Under Node's rules for CommonJS the default export arrives wrapped, other than in its typings.
const decode: typeof jsQR.default = jsQR.default ?? (jsQR as unknown as typeof jsQR.default);

/** The text in the picture of a linking code. Throws {@link Refusal} 422 when there is none. */
export function textOfPicture(bytes: Buffer): string {
  let picture: PNG;
  try {
    picture = PNG.sync.read(bytes);
  } catch {
    throw new Refusal(422, 'This is not a PNG picture.');
  }
  const found = decode(new Uint8ClampedArray(picture.data), picture.width, picture.height);
  if (!found) throw new Refusal(422, 'There is no code in the picture.');
  return found.data;
}

/** The text of a code that was given as text, as a picture, or as the address of a picture. */
export async function codeFrom(given: {
  qr?: string | undefined;
  png?: string | undefined;
  url?: string | undefined;
}): Promise<string> {
  if (given.qr !== undefined) return given.qr;
  if (given.png !== undefined) return textOfPicture(Buffer.from(given.png.replace(/^data:[^,]*,/, ''), 'base64'));
  const response = await fetch(given.url ?? '').catch((error: unknown) => {
    throw new Refusal(422, `The picture cannot be fetched: ${String(error)}`);
  });
  if (!response.ok) throw new Refusal(422, `The picture cannot be fetched: status ${response.status}.`);
  return textOfPicture(Buffer.from(await response.arrayBuffer()));
}

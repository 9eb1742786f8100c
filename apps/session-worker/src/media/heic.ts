/**
 * HEIC, the format of iPhone photos: HEIF with HEVC inside, which sharp's prebuilt libvips cannot decode. Runs in the media
 * process only: the decoder is WebAssembly and blocks the thread that calls it.
 */
import { readFile } from 'node:fs/promises';

/** RGBA, after rotation: the decoder applies the file's own rotation. */
export interface HeicPixels {
  data: Uint8Array;
  width: number;
  height: number;
}

/**
 * Decodes the primary image of a HEIC file.
 * @param maxPixels bound on the pixels of the image itself, which may differ from those in the file's header
 * @throws {Error} when it cannot be decoded, or exceeds the bound
 */
export async function decodeHeic(source: string | Uint8Array, maxPixels: number): Promise<HeicPixels> {
  const { default: libheif } = await import('libheif-js/wasm-bundle.js');
  const file = typeof source === 'string' ? await readFile(source) : source;
  const images = new libheif.HeifDecoder().decode(file);
  const image = images.find((one) => one.is_primary()) ?? images[0];
  if (!image) throw new Error('no image in the file');
  const [width, height] = [image.get_width(), image.get_height()];
  if (width * height > maxPixels) throw new Error('larger than its header states');
  const pixels = { width, height, data: new Uint8ClampedArray(width * height * 4) };
  const { data } = await new Promise<{ data: Uint8ClampedArray }>((resolve, reject) => {
    image.display(pixels, (done) => (done ? resolve(done) : reject(new Error('the decoder failed'))));
  });
  for (const one of images) one.free();
  return { data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), width, height };
}

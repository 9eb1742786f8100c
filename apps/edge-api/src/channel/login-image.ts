import { PNG } from 'pngjs';
import { create, type QRCodeErrorCorrectionLevel } from 'qrcode';
import { z } from 'zod';

const MIN_PIXELS = 100;
const MAX_PIXELS = 2_000;
const RANGE = `must be between ${MIN_PIXELS} and ${MAX_PIXELS}`;
const pixels = z
  .string()
  .regex(/^\d+$/, RANGE)
  .transform(Number)
  .refine((value) => value >= MIN_PIXELS && value <= MAX_PIXELS, RANGE);
const color = z
  .string()
  .regex(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i, 'must be a colour like #1a2b3c')
  .transform(rgba);

/** Query of GET /users/login/image. */
export const loginImageQuery = z.object({
  /** Both sides in pixels; width and height win over it. */
  size: pixels.default(264),
  width: pixels.optional(),
  height: pixels.optional(),
  color_light: color.default([255, 255, 255, 255]),
  color_dark: color.default([0, 0, 0, 255]),
  wakeup: z
    .enum(['true', 'false', '1', '0'], 'must be true or false')
    .transform((text) => text === 'true' || text === '1')
    .default(true),
});
export type LoginImageQuery = z.output<typeof loginImageQuery>;

type Rgba = [number, number, number, number];

/** Blank modules that scanners want around a code. */
const QUIET_ZONE = 4;
/** The code is shown on a screen and lives 20 s: larger modules help more than redundancy. */
const CORRECTION: QRCodeErrorCorrectionLevel = 'L';

/** The code as PNG of exactly the size asked for, as large as whole modules fit, in the middle. */
export function drawLoginImage(code: string, query: Omit<LoginImageQuery, 'wakeup'>): Buffer {
  const width = query.width ?? query.size;
  const height = query.height ?? query.size;
  const { modules } = create(code, { errorCorrectionLevel: CORRECTION });
  const scale = Math.max(1, Math.floor(Math.min(width, height) / (modules.size + 2 * QUIET_ZONE)));
  const left = Math.floor((width - modules.size * scale) / 2);
  const top = Math.floor((height - modules.size * scale) / 2);
  const png = new PNG({ width, height });
  const blank = line(width, query.color_light);
  for (let y = 0; y < height; y++) png.data.set(blank, y * blank.length);
  for (let row = 0; row < modules.size; row++) {
    const drawn = Buffer.from(blank);
    for (let column = 0; column < modules.size; column++) {
      if (modules.get(row, column) !== 0) drawn.set(line(scale, query.color_dark), (left + column * scale) * 4);
    }
    for (let y = top + row * scale; y < top + (row + 1) * scale; y++) png.data.set(drawn, y * drawn.length);
  }
  return PNG.sync.write(png, { deflateStrategy: 0, deflateLevel: 6, filterType: 0 });
}

/** So many pixels of one colour. */
function line(pixelCount: number, color: Rgba): Buffer {
  return Buffer.alloc(pixelCount * 4, Uint8Array.from(color));
}

function rgba(text: string): Rgba {
  const digits = text.replace('#', '');
  const long = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = Buffer.from(long, 'hex');
  return [red, green, blue, alpha];
}

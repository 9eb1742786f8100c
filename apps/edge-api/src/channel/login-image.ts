import { create, type QRCodeErrorCorrectionLevel } from 'qrcode';
import { z } from 'zod';
import { indexedPng, type Rgba } from './indexed-png.js';

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

/** Blank modules that scanners want around a code. */
const QUIET_ZONE = 4;
/** The code is shown on a screen and lives 20 s: larger modules help more than redundancy. */
const CORRECTION: QRCodeErrorCorrectionLevel = 'L';

/** The code as PNG of exactly the requested size: centred, as large as whole modules fit. */
export async function drawLoginImage(code: string, query: Omit<LoginImageQuery, 'wakeup'>): Promise<Buffer> {
  const width = query.width ?? query.size;
  const height = query.height ?? query.size;
  const { modules } = create(code, { errorCorrectionLevel: CORRECTION });
  const scale = Math.max(1, Math.floor(Math.min(width, height) / (modules.size + 2 * QUIET_ZONE)));
  const left = Math.floor((width - modules.size * scale) / 2);
  const top = Math.floor((height - modules.size * scale) / 2);
  const blank = Buffer.alloc(Math.ceil(width / 8));
  const rows = Array.from({ length: modules.size }, (_, row) => {
    const drawn = Buffer.from(blank);
    for (let x = 0; x < modules.size * scale; x++) {
      if (modules.get(row, Math.floor(x / scale)) !== 0) setPixel(drawn, left + x);
    }
    return drawn;
  });
  const lines = Array.from({ length: height }, (_, y) => rows[Math.floor((y - top) / scale)] ?? blank);
  return indexedPng({ width, lines, colors: [query.color_light, query.color_dark] });
}

function setPixel(line: Buffer, x: number): void {
  const at = x >> 3;
  line[at] = (line[at] ?? 0) | (0x80 >> (x & 7));
}

function rgba(text: string): Rgba {
  const digits = text.replace('#', '');
  const long = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = Buffer.from(long, 'hex');
  return [red, green, blue, alpha];
}

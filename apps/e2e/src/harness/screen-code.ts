import jsQR from 'jsqr';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { eventually } from './eventually.js';

/** The code to scan that a page of the dashboard shows now, read off its picture as a camera does. */
export function codeOnScreen(page: Page, { not }: { not?: string } = {}): Promise<string> {
  const code = page.getByRole('img', { name: 'Code to scan with your phone' });
  return eventually(
    async () => {
      const png = PNG.sync.read(await code.screenshot());
      const read = jsQR.default(new Uint8ClampedArray(png.data), png.width, png.height)?.data;
      return read !== not && read;
    },
    { what: not === undefined ? 'a code on the screen' : 'another code on the screen' },
  );
}

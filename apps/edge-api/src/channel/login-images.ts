import { LRUCache } from 'lru-cache';
import { drawLoginImage, type LoginImageQuery } from './login-image.js';

type Look = Omit<LoginImageQuery, 'wakeup'>;
type Draw = (code: string, look: Look) => Promise<Buffer>;

/** Most images cached. A code lives 20 s, and a page that shows it polls every few seconds. */
const MAX_IMAGES = 200;

/** Login images, cached: each is drawn once for a code and a look, also for concurrent requests. */
export class LoginImages {
  readonly #images = new LRUCache<string, Promise<Buffer>>({ max: MAX_IMAGES });

  constructor(private readonly draw: Draw = drawLoginImage) {}

  get(code: string, { size, width = size, height = size, color_light, color_dark }: Look): Promise<Buffer> {
    const key = JSON.stringify([code, width, height, color_light, color_dark]);
    const known = this.#images.get(key);
    if (known) return known;
    const drawn = this.draw(code, { size, width, height, color_light, color_dark });
    this.#images.set(key, drawn);
    drawn.catch(() => this.#images.delete(key));
    return drawn;
  }
}

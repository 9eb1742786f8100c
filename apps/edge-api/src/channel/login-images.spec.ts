import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { loginImageQuery, drawLoginImage } from './login-image.js';
import { LoginImages } from './login-images.js';

const look = (query: Record<string, string> = {}) => loginImageQuery.parse(query);
const CODE = '2@abcdefghijklmnopqrstuvwxyz0123456789,ABCDEFGHIJKLMNOPQRSTUVWXYZ,0123456789+/=';

describe('LoginImages', () => {
  it('draws a code once for a look, however many ask at once and later', async () => {
    let drawings = 0;
    const images = new LoginImages(() => Promise.resolve(Buffer.from([++drawings])));
    const all = await Promise.all(Array.from({ length: 40 }, () => images.get(CODE, look({ size: '2000' }))));
    await images.get(CODE, look({ width: '2000', height: '2000' }));
    expect([drawings, new Set(all).size]).toEqual([1, 1]);
    await images.get(CODE, look({ size: '1999' }));
    await images.get(`${CODE}x`, look({ size: '2000' }));
    await images.get(CODE, look({ size: '2000', color_dark: '#f00' }));
    expect(drawings).toBe(4);
  });

  it('draws again what could not be drawn, and forgets the oldest', async () => {
    let drawings = 0;
    const images = new LoginImages(() => {
      drawings += 1;
      return drawings === 1 ? Promise.reject(new Error('broken')) : Promise.resolve(Buffer.alloc(0));
    });
    await expect(images.get('0', look())).rejects.toThrow();
    for (let code = 0; code <= 200; code++) await images.get(String(code), look());
    expect(drawings).toBe(202);
    await images.get('0', look());
    expect(drawings).toBe(203);
  });
});

describe('drawLoginImage', () => {
  it.each([
    [{ size: '100' }, 100, 100],
    [{ size: '2000' }, 2_000, 2_000],
    [{ width: '301', height: '517', color_light: '#ffeedd', color_dark: '#102030' }, 301, 517],
  ])('draws a code that can be read: %j', async (query, width, height) => {
    const png = PNG.sync.read(await drawLoginImage(CODE, look(query)));
    expect([png.width, png.height]).toEqual([width, height]);
    if (width < 200) return;
    const scaled = jsQR.default(new Uint8ClampedArray(png.data), png.width, png.height);
    expect(scaled?.data).toBe(CODE);
  });

  it('has exactly the requested colours, transparency included', async () => {
    const png = PNG.sync.read(await drawLoginImage(CODE, look({ color_light: '#01020380', color_dark: '#a0b0c0' })));
    const colors = new Set<string>();
    for (let at = 0; at < png.data.length; at += 4) colors.add(png.data.subarray(at, at + 4).toString('hex'));
    expect([...colors].sort()).toEqual(['01020380', 'a0b0c0ff']);
  });
});

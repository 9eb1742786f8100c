import { SignedLinks } from './signed-links.js';

const TTL_S = 100;
const FILE = { id: 'png-00112233445566778899aabbccddeeff-00112233445566', objectKey: 'k', mimeType: 'image/png' };

function setup() {
  const clock = { nowMs: 1 };
  let signed = 0;
  const links = new SignedLinks({
    storage: { signGet: (key, { downloadName }) => Promise.resolve(`${key}/${downloadName}/${(signed += 1)}`) },
    ttlS: TTL_S,
    now: () => clock.nowMs,
  });
  return { clock, links };
}

describe('SignedLinks', () => {
  it('gives a link again while at least half of its time is left, then a new one', async () => {
    const { clock, links } = setup();
    const first = await links.of(FILE);
    clock.nowMs += (TTL_S * 1_000) / 2;
    expect(await links.of(FILE)).toBe(first);
    clock.nowMs += 1;
    expect(await links.of(FILE)).not.toBe(first);
  });

  it('never gives the link of another name or type', async () => {
    const { links } = setup();
    const all = await Promise.all([
      links.of(FILE),
      links.of({ ...FILE, fileName: 'a.png' }),
      links.of({ ...FILE, mimeType: 'image/jpeg' }),
      links.of({ ...FILE, objectKey: 'other' }),
    ]);
    expect(new Set(all).size).toBe(4);
  });
});

import { webhookIds } from './webhook-ids.js';

describe('webhookIds', () => {
  const at = (...urls: string[]) => webhookIds({ webhooks: urls.map((url) => ({ url })) });

  it('keeps the name of a webhook when others are added, removed or moved', () => {
    const [a, b] = at('https://a.example', 'https://b.example');
    expect(at('https://b.example', 'https://c.example', 'https://a.example')).toEqual([b, expect.any(String), a]);
    expect(at('https://b.example')).toEqual([b]);
  });

  it('names equal URLs apart, by their occurrence', () => {
    const [first, second] = at('https://a.example', 'https://a.example');
    expect(first).not.toBe(second);
    expect(at('https://a.example')).toEqual([first]);
  });

  it('makes 16 hexadecimal digits', () => {
    expect(at('https://a.example')[0]).toMatch(/^[0-9a-f]{16}$/);
  });
});

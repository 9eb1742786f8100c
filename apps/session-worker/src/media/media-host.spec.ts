import { MediaHost } from './media-host.js';

const hosts: MediaHost[] = [];
const host = (origin?: string) => {
  const made = new MediaHost({ origin });
  hosts.push(made);
  return made;
};

afterAll(() => Promise.all(hosts.map((one) => one.close())));

describe('where a file is fetched from', () => {
  it('is the host that the message names, if that is a host of the network', () => {
    const url = 'https://media-fra3-1.cdn.whatsapp.net/v/t62/1?ccb=11';
    expect(host().urlOf({ url, directPath: '/v/t62/2?oh=1' })?.href).toBe(
      'https://media-fra3-1.cdn.whatsapp.net/v/t62/2?oh=1',
    );
    expect(host().urlOf({ url, directPath: undefined })?.href).toBe(url);
  });

  it.each([
    'http://169.254.169.254/latest',
    'https://evil.example/v/1',
    'https://whatsapp.net.evil.example/v/1',
    'http://mmg.whatsapp.net/v/1',
    'https://user@evil.example#.whatsapp.net/',
  ])('is never a host outside the network: %s', (url) => {
    expect(host().urlOf({ url, directPath: '/v/1' })?.href).toBe('https://mmg.whatsapp.net/v/1');
    expect(host().urlOf({ url, directPath: undefined })).toBeUndefined();
  });

  it.each(['@evil.example/v/1', 'https://evil.example/v/1', '//evil.example/v/1'])(
    'does not leave the host through a crafted path: %s',
    (directPath) => {
      const url = host().urlOf({ url: undefined, directPath });
      expect(url?.origin ?? 'https://mmg.whatsapp.net').toBe('https://mmg.whatsapp.net');
    },
  );

  it('is the simulated host when there is one', () => {
    const simulated = host('http://127.0.0.1:4500');
    expect(simulated.urlOf({ url: 'https://127.0.0.1:4500/v/1', directPath: '/v/2' })?.href).toBe(
      'http://127.0.0.1:4500/v/2',
    );
  });
});

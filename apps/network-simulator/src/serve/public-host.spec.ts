import { authority, listeningHost, parsePublicHost } from './public-host.js';

describe('the host that a network announces', () => {
  it.each([
    ['simulator', { name: 'simulator', port: undefined }, 'simulator:4100'],
    ['simulator:3000', { name: 'simulator', port: 3000 }, 'simulator:3000'],
    ['10.0.0.7:80', { name: '10.0.0.7', port: 80 }, '10.0.0.7:80'],
    ['[::1]:3000', { name: '::1', port: 3000 }, '[::1]:3000'],
    ['[fd00::7]', { name: 'fd00::7', port: undefined }, '[fd00::7]:4100'],
  ])('reads %s', (text, host, place) => {
    expect(parsePublicHost(text)).toEqual(host);
    expect(authority(host, 4100)).toBe(place);
  });

  it.each(['', 'http://simulator', 'simulator:3000/path', 'a b', 'simulator:99999', '::1'])(
    'does not accept "%s"',
    (text) => {
      expect(parsePublicHost(text)).toBeUndefined();
    },
  );

  it.each([
    ['127.0.0.1', '127.0.0.1:9'],
    ['0.0.0.0', '127.0.0.1:9'],
    ['::', '[::1]:9'],
    ['10.1.1.1', '10.1.1.1:9'],
  ])('without a setting, listening on %s, is %s', (host, place) => {
    expect(authority(listeningHost(host), 9)).toBe(place);
  });
});

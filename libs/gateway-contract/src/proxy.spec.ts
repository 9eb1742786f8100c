import { proxyParts } from './proxy.js';

describe('proxyParts', () => {
  it('reads user, password, host and port, and who looks names up', () => {
    const expected = { host: 'proxy.example', port: 1080, user: 'u', password: 'p', looksNamesUp: false };
    expect(proxyParts('socks5://u:p@proxy.example:1080')).toEqual(expected);
    expect(proxyParts('socks5h://u:p@192.0.2.7:1')).toEqual({
      ...expected,
      host: '192.0.2.7',
      port: 1,
      looksNamesUp: true,
    });
  });

  it.each([
    ['a%40b:c%3Ad%25', 'a@b', 'c:d%'],
    ['user:a:b@c', 'user', 'a:b@c'],
    ['user:100%', 'user', '100%'],
  ])('takes %s apart into user and password', (credentials, user, password) => {
    expect(proxyParts(`socks5://${credentials}@h.example:1080`)).toMatchObject({ user, password, host: 'h.example' });
  });

  it.each(['', 'http://u:p@h.example:1080', 'socks5://h.example:1080', 'socks5://u:p@h.example'])(
    'finds no proxy in %j',
    (text) => expect(proxyParts(text)).toBeUndefined(),
  );
});

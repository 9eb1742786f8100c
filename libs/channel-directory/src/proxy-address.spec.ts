import { GatewayError } from '@dormouse/gateway-contract';
import { requireUsableProxy } from './proxy-address.js';

const check =
  (proxy: string | undefined, allowPrivate = false) =>
  () =>
    requireUsableProxy(proxy === undefined ? {} : { proxy }, { allowPrivate });

const faultOf = (proxy: string): unknown => {
  try {
    check(proxy)();
  } catch (error) {
    return error instanceof GatewayError ? error.details : error;
  }
  return undefined;
};

describe('requireUsableProxy', () => {
  it.each([
    'localhost',
    'proxy.localhost',
    'vault.internal',
    'printer.local',
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '168.63.129.16',
    '0250.0077.0201.020',
    '192.0.0.192',
  ])('refuses a proxy at %s, except in development', (host) => {
    const proxy = `socks5://user:secret@${host}:1080`;
    expect(faultOf(proxy)).toBe('proxy: must not be a private address');
    expect(check(proxy, true)).not.toThrow();
  });

  it.each([
    ['socks5://user:secret@proxy.example:0', 'a port between 1 and 65535'],
    ['socks5://user:secret@proxy.example:65536', 'a port between 1 and 65535'],
    [`socks5://${'u'.repeat(256)}:secret@proxy.example:1080`, 'a user of at most 255 bytes'],
    [`socks5://user:${'é'.repeat(128)}@proxy.example:1080`, 'a password of at most 255 bytes'],
    ['socks5://user:secret@999.1.1.1:1080', 'must name a host'],
  ])('rejects what cannot be a proxy, and gives the reason (%#)', (proxy, why) => {
    expect(faultOf(proxy)).toContain(why);
    expect(faultOf(proxy)).not.toContain('secret');
  });

  it.each([
    undefined,
    '',
    'socks5://user:secret@proxy.example:1080',
    'socks5h://user:secret@8.8.8.8:65535',
    'socks5://user:***@proxy.example:1080',
  ])('lets %j pass', (proxy) => expect(check(proxy)).not.toThrow());
});

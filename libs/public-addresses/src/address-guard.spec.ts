import type { LookupAddress } from 'node:dns';
import {
  AddressRefused,
  guardedLookup,
  isPlainlyNotPublic,
  isPublicAddress,
  type AddressGuardOptions,
} from './address-guard.js';

describe('isPublicAddress', () => {
  it.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946'])('lets %s through', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '10.0.0.1',
    '172.16.5.4',
    '172.31.255.255',
    '192.168.1.1',
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    'fd20:ce::254',
    '161.26.0.10',
    '166.8.1.1',
    '::ffff:168.63.129.16',
    '64:ff9b:1::a00:1',
    '::ffff:0:7f00:1',
    'not an address',
    '',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('lets loopback through only where development allows it, and nothing else with it', () => {
    expect(isPublicAddress('127.0.0.1', { allowLoopback: true })).toBe(true);
    expect(isPublicAddress('::1', { allowLoopback: true })).toBe(true);
    expect(isPublicAddress('::ffff:127.0.0.1', { allowLoopback: true })).toBe(true);
    for (const address of ['10.0.0.1', '169.254.169.254', '0.0.0.0', '::', 'fd00::1']) {
      expect(isPublicAddress(address, { allowLoopback: true })).toBe(false);
    }
  });

  it('lets private networks through only where development allows it, but never link-local ones', () => {
    for (const address of ['127.0.0.1', '10.0.0.1', '192.168.1.1', 'fd00::1', '::1']) {
      expect(isPublicAddress(address, { allowPrivate: true })).toBe(true);
    }
    for (const address of ['169.254.169.254', '168.63.129.16', '64:ff9b::7f00:1', 'fe80::1', '0.0.0.0']) {
      expect(isPublicAddress(address, { allowPrivate: true })).toBe(false);
    }
  });
});

describe('isPlainlyNotPublic', () => {
  it.each([
    'localhost',
    'a.localhost',
    'db.internal',
    'db.internal.',
    'printer.local',
    'x.home.arpa',
    '127.0.0.1',
    '[::1]',
  ])('knows %s', (host) => expect(isPlainlyNotPublic(host)).toBe(true));

  it.each(['hooks.example.com', 'internal.example.com', '8.8.8.8', '[2606:4700:4700::1111]'])(
    'leaves %s alone',
    (host) => expect(isPlainlyNotPublic(host)).toBe(false),
  );
});

const resolvingTo =
  (...addresses: LookupAddress[]): NonNullable<AddressGuardOptions['lookup']> =>
  (_hostname, _options, callback) =>
    callback(null, addresses);
const inside = { address: '10.0.0.1', family: 4 };
const outside = { address: '8.8.8.8', family: 4 };

describe('guardedLookup', () => {
  const look = (options: AddressGuardOptions, all: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      guardedLookup(options)('host', { all }, (error, address) => (error ? reject(error) : resolve(address)));
    });

  it('finds the public addresses among those of a name', async () => {
    const lookup = resolvingTo(inside, outside);
    expect(await look({ lookup }, true)).toEqual([outside]);
    expect(await look({ lookup }, false)).toBe('8.8.8.8');
  });

  it('refuses a name that has none', async () => {
    await expect(look({ lookup: resolvingTo(inside) }, true)).rejects.toBeInstanceOf(AddressRefused);
    await expect(look({ lookup: resolvingTo() }, true)).rejects.toBeInstanceOf(AddressRefused);
  });

  it('passes on that a name does not exist', async () => {
    const missing = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    await expect(look({ lookup: (_hostname, _options, callback) => callback(missing, []) }, true)).rejects.toBe(
      missing,
    );
  });
});

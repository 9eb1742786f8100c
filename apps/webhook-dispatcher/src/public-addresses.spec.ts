import { isPublicAddress, PrivateAddressError, publicLookup, type ResolveAll } from './public-addresses.js';

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '2001:4860:4860::8888', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'ff02::1',
    'no address',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('publicLookup', () => {
  const resolving =
    (...found: { address: string; family: number }[]): ResolveAll =>
    (_hostname, _options, callback) =>
      callback(null, found);
  const look = (resolveAll: ResolveAll, all: boolean) =>
    new Promise((resolve, reject) => {
      publicLookup(resolveAll)('host', { all }, (error, address) => (error ? reject(error) : resolve(address)));
    });
  const inside = { address: '10.0.0.1', family: 4 };
  const outside = { address: '8.8.8.8', family: 4 };

  it('finds the public addresses among those of a name', async () => {
    expect(await look(resolving(inside, outside), true)).toEqual([outside]);
    expect(await look(resolving(inside, outside), false)).toBe('8.8.8.8');
  });

  it('refuses a name that has none', async () => {
    await expect(look(resolving(inside), true)).rejects.toBeInstanceOf(PrivateAddressError);
    await expect(look(resolving(), false)).rejects.toBeInstanceOf(PrivateAddressError);
  });

  it('passes on that a name does not exist', async () => {
    const missing = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    await expect(look((_hostname, _options, callback) => callback(missing, []), true)).rejects.toBe(missing);
  });
});

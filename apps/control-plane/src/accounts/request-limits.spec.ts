import { RequestLimits } from './request-limits.js';

describe('limits of requests with unknown keys', () => {
  it('count the addresses of one IPv6 network (/64) together: its owner has all of them', async () => {
    const limits = new RequestLimits({ perAccount: 0, badKeysPerAddress: 3 });
    for (const host of [1, 2, 3]) await limits.countBadKey(`2001:db8:1:2::${host}`, `guess${host}`);
    await expect(limits.requireNotBlocked('2001:db8:1:2::4', 'guess4')).rejects.toMatchObject({ status: 429 });
    await expect(limits.requireNotBlocked('2001:db8:1:3::1', 'guess5')).resolves.toBeUndefined();
  });

  it('count an IPv4 address the same in either form', async () => {
    const limits = new RequestLimits({ perAccount: 0, badKeysPerAddress: 1 });
    await limits.countBadKey('::ffff:192.0.2.1', 'guess1');
    await expect(limits.requireNotBlocked('192.0.2.1', 'guess2')).rejects.toMatchObject({ status: 429 });
  });
});

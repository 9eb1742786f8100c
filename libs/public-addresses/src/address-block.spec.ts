import { addressBlock } from './address-block.js';

describe('addressBlock', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ])('of %s is %s', (address, block) => {
    expect(addressBlock(address)).toBe(block);
  });
});

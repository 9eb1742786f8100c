import { returnPath } from './return-path.js';

describe('the path after a sign-in', () => {
  it.each(['/channels', '/channels/NINJA-4XK2P?tab=events#last', '/'])('is the one that was left: %s', (path) => {
    expect(returnPath(path)).toBe(path);
  });

  it.each([
    ...['https://evil.test', '//evil.test', '/\\evil.test', '\\\\evil.test', 'javascript:alert(1)', 'channels', ''],
    ...['/\t/evil.test', '/\n/evil.test', undefined, 7, ['/channels']],
  ])('is home in place of %j', (wanted) => {
    expect(returnPath(wanted)).toBe('/');
  });
});

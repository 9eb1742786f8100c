import { cleanUrl } from './clean-path.js';

describe('cleanUrl', () => {
  it.each([
    ['/messages//text', '/messages/text'],
    ['//chats', '/chats'],
    ['/contacts/', '/contacts'],
    ['/contacts///?count=1', '/contacts?count=1'],
    ['/', '/'],
    ['//', '/'],
    ['/chats?x=//a/', '/chats?x=//a/'],
    ['/chats/1%40g.us', '/chats/1%40g.us'],
    ['/chats/100%', '/chats/100%25'],
    ['/chats/a%zz', '/chats/a%25zz'],
    ['/chats/%ff%40', '/chats/%25ff%2540'],
  ])('makes %s %s', (url, clean) => expect(cleanUrl(url)).toBe(clean));

  it('always gives the router a path it can decode', () => {
    for (const path of ['/%', '/%%%', '/%E0%A4%A', '/%c0%80', '/a%2Fb']) {
      expect(() => decodeURIComponent(cleanUrl(path))).not.toThrow();
    }
  });
});

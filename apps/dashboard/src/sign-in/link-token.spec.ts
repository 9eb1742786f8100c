import { LinkToken } from './link-token.js';

/** An address bar that shows an address. */
function barAt(address: string) {
  const url = new URL(address, 'https://dormouse.test');
  const shown: string[] = [];
  return {
    shown,
    bar: {
      location: { pathname: url.pathname, search: url.search, hash: url.hash },
      history: {
        state: null,
        replaceState: (_state: unknown, _title: string, path?: string | URL | null) => void shown.push(String(path)),
      },
    },
  };
}

describe('the token of a link', () => {
  it.each(['/verify-email#token=a%2Bb', '/verify-email?token=a%2Bb'])(
    'leaves the address bar at once: %s',
    (address) => {
      const { bar, shown } = barAt(address);
      const token = new LinkToken(bar);
      token.take();
      expect([token.of('/verify-email'), shown]).toEqual(['a+b', ['/verify-email']]);
    },
  );

  it('is that of its own page, and of none without a link', () => {
    const { bar, shown } = barAt('/channels?token=x#token=y');
    const none = new LinkToken(bar);
    none.take();
    expect([none.of('/channels'), shown]).toEqual([undefined, []]);
    const token = new LinkToken(barAt('/invitation#token=i').bar);
    token.take();
    expect([token.of('/invitation'), token.of('/first-owner')]).toEqual(['i', undefined]);
  });

  it('is replaced by that of a second link, and pages are notified', () => {
    const { bar } = barAt('/invitation#token=first');
    const token = new LinkToken(bar);
    token.take();
    let notified = 0;
    token.subscribe(() => (notified += 1));
    bar.location.hash = '#token=second';
    token.take();
    expect([token.of('/invitation'), notified]).toEqual(['second', 1]);
  });
});

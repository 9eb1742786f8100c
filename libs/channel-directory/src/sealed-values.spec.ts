import { ChannelSeals, isSealed, SealedValueError } from './sealed-values.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const old = new ChannelSeals({ currentId: 'old', keys: new Map([['old', OLD]]) });
const both = new ChannelSeals({
  currentId: 'a new: one/2',
  keys: new Map([
    ['old', OLD],
    ['a new: one/2', NEW],
  ]),
});

describe('ChannelSeals', () => {
  it.each(['s3cret', 'ключ 🔑', 'sealed:1:old:AAAA', 'x'.repeat(100_000)])('gives back what was sealed', (plain) => {
    const sealed = both.seal('channel', 'proxy', plain);
    expect([isSealed(sealed), sealed.includes(plain)]).toEqual([true, false]);
    expect(both.open('channel', 'proxy', sealed)).toBe(plain);
    expect(both.seal('channel', 'proxy', plain)).not.toBe(sealed);
  });

  it('opens a value for its channel and its purpose only, and none that was changed', () => {
    const sealed = old.seal('channel', 'proxy', 's3cret');
    const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const [id, purpose, value] of [
      ['another', 'proxy', sealed],
      ['channel', 'mobile_proxy', sealed],
      ['channel', 'proxy', changed],
      ['channel', 'proxy', sealed.slice(0, 20)],
    ] as const) {
      expect(() => old.open(id, purpose, value)).toThrow(SealedValueError);
    }
  });

  it('opens what an earlier key has sealed, and names the key that is missing, but not the value', () => {
    expect(both.open('channel', 'proxy', old.seal('channel', 'proxy', 's3cret'))).toBe('s3cret');
    const sealed = both.seal('channel', 'proxy', 's3cret');
    expect(() => old.open('channel', 'proxy', sealed)).toThrow(/proxy of channel channel .* no settings key .*2;/);
    const impostor = new ChannelSeals({ currentId: 'old', keys: new Map([['old', NEW]]) });
    expect(() => impostor.open('channel', 'proxy', old.seal('channel', 'proxy', 'x'))).toThrow(
      /another key called old/,
    );
  });

  it('reads what was stored before there were keys, and without a current key seals nothing', () => {
    expect(both.open('channel', 'proxy', 'plain')).toBe('plain');
    const readsOnly = new ChannelSeals({ keys: new Map([['old', OLD]]) });
    expect(readsOnly.seal('channel', 'proxy', 'plain')).toBe('plain');
    expect(readsOnly.open('channel', 'proxy', old.seal('channel', 'proxy', 's3cret'))).toBe('s3cret');
    expect(() => new ChannelSeals({ currentId: 'x', keys: new Map() })).toThrow('there is no settings key x');
  });
});

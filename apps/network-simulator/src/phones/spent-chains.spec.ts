import { removeSpentChains, type StoredRecord } from './spent-chains.js';

type Chain = StoredRecord['_sessions'][string]['_chains'][string];

const inUse: Chain = { chainKey: { key: 'k' }, chainType: 2, messageKeys: {} };
const sending: Chain = { chainKey: { key: 'k' }, chainType: 1, messageKeys: {} };
const spent: Chain = { chainKey: {}, chainType: 2, messageKeys: {} };
const overtaken: Chain = { chainKey: {}, chainType: 2, messageKeys: { 3: 'k' } };

/** The names of the chains that are left of these, the oldest first. */
function left(chains: [string, Chain][]): string[] {
  const session = { indexInfo: { closed: -1, used: 0 }, _chains: Object.fromEntries(chains) };
  removeSpentChains({ _sessions: { base: session } });
  return Object.keys(session._chains);
}

const many = (count: number, name: string, chain: Chain) =>
  Array.from({ length: count }, (_, index): [string, Chain] => [`${name}${index}`, chain]);

describe('removeSpentChains', () => {
  it('leaves the chains in use and the last five that are spent', () => {
    expect(left([...many(1000, 'spent', spent), ['sending', sending], ['inUse', inUse]])).toEqual([
      'spent995',
      'spent996',
      'spent997',
      'spent998',
      'spent999',
      'sending',
      'inUse',
    ]);
  });

  it('leaves those for forty turns with which something can be read yet', () => {
    expect(left([...many(1, 'gone', overtaken), ...many(1, 'kept', overtaken), ...many(39, 'spent', spent)])).toEqual([
      'kept0',
      'spent34',
      'spent35',
      'spent36',
      'spent37',
      'spent38',
    ]);
  });
});

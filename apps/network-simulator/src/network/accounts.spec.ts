import { pino } from 'pino';
import { Store } from '../store/store.js';
import { Accounts } from './accounts.js';

describe('accounts', () => {
  it('are made by the thousand without keys, which come with the first use and stay', () => {
    const accounts = new Accounts(new Store(undefined, pino({ level: 'silent' })));
    const made = Array.from({ length: 3000 }, () => accounts.add());
    expect(accounts.size).toBe(3000);
    expect(new Set(made.map(({ lid }) => lid)).size).toBe(3000);
    expect(made.filter(({ state }) => state.keys ?? state.appState)).toEqual([]);
    const [first] = made;
    const keys = first?.keys();
    expect(keys?.signedPreKey.signature.length).toBe(64);
    expect(first?.keys()).toBe(keys);
    expect(made.filter(({ state }) => state.keys).length).toBe(1);
  });
});

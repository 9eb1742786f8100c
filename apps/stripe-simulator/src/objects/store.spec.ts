import { StripeFault } from '../wire/stripe-fault.js';
import type { Product } from './records.js';
import { Store } from './store.js';

const product = (id: string, name = id): Product => ({
  ...{ id, object: 'product', created: 0, active: true, description: null, metadata: {}, name, updated: 0 },
  ...{ statement_descriptor: null, tax_code: null, unit_label: null, url: null },
});
const names = (store: Store): string[] => [...store.products.oldestFirst()].map(({ name }) => name);

describe('the store', () => {
  it('undoes all changes of a transaction that fails', () => {
    const store = new Store();
    store.transact(() => store.products.put(product('a')));
    const failing = () =>
      store.transact(() => {
        store.products.change('a', { name: 'changed' });
        store.products.put(product('b'));
        store.products.remove('a');
        throw new Error('no');
      });
    expect(failing).toThrow('no');
    expect(names(store)).toEqual(['a']);
  });

  it('keeps the changes of an error that says so: a declined card is on record', () => {
    const store = new Store();
    const failing = () =>
      store.transact(() => {
        store.products.put(product('a'));
        throw new StripeFault(402, 'card_error', 'declined', {}, true);
      });
    expect(failing).toThrow('declined');
    expect(names(store)).toEqual(['a']);
  });

  it('notifies of the records of a transaction once it is done, and nothing of one that failed', () => {
    const store = new Store();
    const told: string[] = [];
    store.onCommit((records) => told.push(...records.map(({ id }) => id)));
    store.transact(() => {
      store.products.put(product('a'));
      store.transact(() => store.products.put(product('b')));
      expect(told).toEqual([]);
    });
    const failing = () =>
      store.transact(() => {
        store.products.put(product('c'));
        throw new Error('no');
      });
    expect(failing).toThrow('no');
    expect(told).toEqual(['a', 'b']);
  });

  it('refuses changes outside a transaction: they would not be in the journal', () => {
    expect(() => new Store().products.put(product('a'))).toThrow('outside a transaction');
  });

  it('walks from a record on, newest and oldest first', () => {
    const store = new Store();
    store.transact(() => ['a', 'b', 'c', 'd'].forEach((id) => store.products.put(product(id))));
    expect([...store.products.newestFirst('c')].map(({ id }) => id)).toEqual(['b', 'a']);
    expect([...store.products.oldestFirst('b')].map(({ id }) => id)).toEqual(['c', 'd']);
  });
});

import { hashOperatorKey, mintOperatorKey, OperatorKeys } from './operator-keys.js';

describe('OperatorKeys', () => {
  const key = mintOperatorKey();
  const keys = new OperatorKeys(
    new Map([
      ['ada', hashOperatorKey(key)],
      ['ben', hashOperatorKey(mintOperatorKey())],
    ]),
  );

  it('finds the operator of a key, and none for an unknown one', () => {
    expect(keys.find(key)).toEqual({ name: 'ada' });
    expect(keys.find(mintOperatorKey())).toBeUndefined();
    expect(keys.find(key.slice(0, -1))).toBeUndefined();
    expect(keys.find('')).toBeUndefined();
  });

  it('finds none when no operators are configured', () => {
    expect(new OperatorKeys(new Map()).find(key)).toBeUndefined();
  });
});

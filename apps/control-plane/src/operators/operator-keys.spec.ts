import { hashOperatorKey, mintOperatorKey, OperatorKeys } from './operator-keys.js';

describe('OperatorKeys', () => {
  const key = mintOperatorKey();
  const keys = new OperatorKeys(
    new Map([
      ['ada', hashOperatorKey(key)],
      ['ben', hashOperatorKey(mintOperatorKey())],
    ]),
  );

  it('finds the operator whose key it is, and nobody else', () => {
    expect(keys.find(key)).toEqual({ name: 'ada' });
    expect(keys.find(mintOperatorKey())).toBeUndefined();
    expect(keys.find(key.slice(0, -1))).toBeUndefined();
    expect(keys.find('')).toBeUndefined();
  });

  it('lets nobody in when none are named', () => {
    expect(new OperatorKeys(new Map()).find(key)).toBeUndefined();
  });
});

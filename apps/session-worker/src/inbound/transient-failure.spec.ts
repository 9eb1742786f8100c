import { isTransient } from './transient-failure.js';

const failure = (code: string) => Object.assign(new Error('x'), { code });

describe('isTransient', () => {
  it.each(['08006', '53300', '57P01', '57014', '40001', '40P01', '55P03', '25P03', 'ECONNREFUSED', 'ECONNRESET'])(
    'waits for %s to pass',
    (code) => expect(isTransient(failure(code))).toBe(true),
  );

  it.each(['22P05', '23505', '42703', '22001', 'ERR_INVALID_ARG_TYPE'])('does not wait for %s', (code) =>
    expect(isTransient(failure(code))).toBe(false),
  );

  it('knows what the driver says without a code', () => {
    expect(isTransient(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isTransient(new Error('timeout exceeded when trying to connect'))).toBe(true);
    expect(isTransient(new AggregateError([failure('ECONNREFUSED')]))).toBe(true);
    expect(isTransient(new TypeError('x is not a function'))).toBe(false);
    expect(isTransient('away')).toBe(false);
  });
});

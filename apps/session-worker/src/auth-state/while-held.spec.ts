import { FencedError } from '@dormouse/database';
import { isPassing, whileHeld } from './while-held.js';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });
const away = failure('ECONNREFUSED');

function failing(times: number, error: Error) {
  const write = { calls: 0, run: () => Promise.resolve('') };
  write.run = () => (write.calls++ < times ? Promise.reject(error) : Promise.resolve('written'));
  return write;
}

describe('whileHeld', () => {
  it('writes again when the database comes back', async () => {
    const write = failing(2, away);
    await expect(whileHeld(() => true, write.run)).resolves.toBe('written');
    expect(write.calls).toBe(3);
  });

  it('gives up once the shard is not surely ours', async () => {
    const write = failing(9, away);
    await expect(whileHeld(() => write.calls < 2, write.run)).rejects.toBe(away);
    expect(write.calls).toBe(2);
  });

  it('never repeats what the fence refused, or what failed for its own reasons', async () => {
    for (const error of [new FencedError({ shard: 1, epoch: 2n }), failure('23505'), new TypeError('no')]) {
      const write = failing(1, error);
      await expect(whileHeld(() => true, write.run)).rejects.toBe(error);
    }
  });
});

describe('isPassing', () => {
  it('knows outages by their codes and texts', () => {
    const passing = ['57P01', '08006', '53300', '40001', '25P03', 'ECONNRESET', 'ETIMEDOUT'];
    expect(passing.filter((code) => !isPassing(failure(code)))).toEqual([]);
    expect(isPassing(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isPassing(new Error('Client has encountered a connection error and is not queryable'))).toBe(true);
    expect(isPassing(failure('22P05'))).toBe(false);
    expect(isPassing('text')).toBe(false);
  });
});

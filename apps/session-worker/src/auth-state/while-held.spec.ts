import { constants } from 'node:os';
import { FencedError } from '@dormouse/database';
import { whileHeld } from './while-held.js';

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

  it('fails once the shard is not certainly ours', async () => {
    const write = failing(9, away);
    await expect(whileHeld(() => write.calls < 2, write.run)).rejects.toBe(away);
    expect(write.calls).toBe(2);
  });

  it('repeats whatever keeps the database away', async () => {
    const codes = [
      ...Object.keys(constants.errno),
      'EAI_AGAIN',
      '3D000',
      '28P01',
      '42P01',
      '54000',
      'CERT_HAS_EXPIRED',
    ];
    const given = codes.flatMap((code) => [failure(code), new AggregateError([failure(code), failure(code)])]);
    const outcomes = given.map((error) => whileHeld(() => true, failing(1, error).run));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['written']));
  });

  it('never repeats what the fence refused, or what failed for its own reasons', async () => {
    for (const error of [
      new FencedError({ shard: 1, epoch: 2n }),
      failure('23505'),
      failure('22P05'),
      new TypeError('no'),
    ]) {
      const write = failing(1, error);
      await expect(whileHeld(() => true, write.run)).rejects.toBe(error);
    }
  });
});

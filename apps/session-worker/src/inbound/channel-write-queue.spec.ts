import { constants } from 'node:os';
import { FencedError } from '@dormouse/database';
import { ChannelWriteQueue } from './channel-write-queue.js';
import { fakeSession } from './fake-session.js';

const FENCE = { shard: 0, epoch: 1n };
const failure = (code: string): Error => Object.assign(new Error('failed'), { code });
const AWAY = [
  ...Object.keys(constants.errno),
  'EAI_AGAIN',
  '3D000',
  '28P01',
  '42P01',
  '54000',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
];

function setup({ retryForMs = 10_000 } = {}) {
  const session = fakeSession('c', FENCE);
  let nowMs = 0;
  const patience = {
    retryForMs,
    now: () => nowMs,
    wait: (ms: number) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
  return { session, queue: new ChannelWriteQueue(session, patience) };
}

describe('ChannelEar', () => {
  it('stores again whatever keeps the store away', async () => {
    const { queue, session } = setup();
    for (const code of AWAY) {
      const errors = [failure(code), new AggregateError([failure(code), failure(code)])];
      const write = () => {
        const error = errors.pop();
        return error ? Promise.reject(error) : Promise.resolve(code);
      };
      await expect(queue.store(write)).resolves.toBe(code);
    }
    expect(session.faults).toEqual([]);
  });

  it('drops a write that fails by its own content, without closing the socket', async () => {
    const { queue, session } = setup();
    for (const error of [failure('22P05'), failure('23505'), new TypeError('no'), new FencedError(FENCE)]) {
      let calls = 0;
      const write = () => {
        calls += 1;
        return Promise.reject(error);
      };
      await expect(queue.store(write)).rejects.toBe(error);
      expect(calls).toBe(1);
    }
    expect(session.ends).toEqual([]);
  });

  it('closes the socket when the store stays away, so that the network keeps what follows', async () => {
    const { queue, session } = setup({ retryForMs: 1_000 });
    const away = failure('ENETUNREACH');
    await expect(queue.store(() => Promise.reject(away))).rejects.toBe(away);
    expect(session.ends).toHaveLength(1);
  });
});

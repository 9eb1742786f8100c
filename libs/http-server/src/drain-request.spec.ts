import { PassThrough } from 'node:stream';
import { drainBody, LINGERS_MS } from './drain-request.js';

/** The body of a request, and whether its draining has ended. */
function drained() {
  const body = new PassThrough();
  const state = { body, ended: false };
  void drainBody(body).then(() => (state.ended = true));
  return state;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('drainBody', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it('takes what a client goes on sending until its body ends', async () => {
    const state = drained();
    for (let piece = 0; piece < 100; piece += 1) {
      if (!state.body.write(Buffer.alloc(64 * 1024))) await turn();
      expect(state.ended).toBe(false);
    }
    state.body.end();
    await turn();
    await turn();
    expect(state.ended).toBe(true);
  });

  it('ends when the client disconnects', async () => {
    const state = drained();
    state.body.destroy();
    await turn();
    expect(state.ended).toBe(true);
  });

  it('gives a client that does not end time to read the answer, and no more', async () => {
    const state = drained();
    await jest.advanceTimersByTimeAsync(LINGERS_MS - 1);
    expect(state.ended).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(state.ended).toBe(true);
    expect(state.body.isPaused()).toBe(true);
  });
});

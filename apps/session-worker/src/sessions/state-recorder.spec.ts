import { deferred } from '../socket/deferred.js';
import { StateRecorder } from './state-recorder.js';

describe('StateRecorder', () => {
  it('writes states in order and merges what is noted while one is being written', async () => {
    const written: unknown[] = [];
    const first = deferred<void>();
    const recorder = new StateRecorder(
      async (change) => {
        written.push(change);
        if (written.length === 1) await first.promise;
      },
      () => true,
      () => undefined,
    );
    recorder.note({ state: 'connecting', linked: true, phone: '49' });
    recorder.note({ state: 'open', lid: '77' });
    recorder.note({ state: 'connecting', reason: 'connection_lost' });
    first.resolve();
    await recorder.settled();
    expect(written).toEqual([
      { state: 'connecting', reason: null, linked: true, phone: '49' },
      { state: 'connecting', reason: 'connection_lost', lid: '77' },
    ]);
  });

  it('reports a state that could not be written and continues with the next', async () => {
    const faults: unknown[] = [];
    const written: string[] = [];
    const recorder = new StateRecorder(
      ({ state }) => (state === 'qr' ? Promise.reject(new Error('refused')) : Promise.resolve(written.push(state))),
      () => true,
      (error) => faults.push(error),
    );
    recorder.note({ state: 'qr' });
    await recorder.settled();
    recorder.note({ state: 'closed' });
    await recorder.settled();
    expect([faults.length, written]).toEqual([1, ['closed']]);
  });
});

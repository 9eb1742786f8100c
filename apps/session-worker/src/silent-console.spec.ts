import libsignal from 'libsignal';
import { silenceConsole } from './silent-console.js';

describe('silenceConsole', () => {
  it('prints and witnesses nothing of a session that libsignal closes', () => {
    const printed: unknown[][] = [];
    const restoreProbe = Object.fromEntries(
      (['log', 'info', 'warn', 'error'] as const).map((method) => [method, console[method]]),
    );
    Object.assign(
      console,
      Object.fromEntries(
        Object.keys(restoreProbe).map((method) => [method, (...args: unknown[]) => printed.push(args)]),
      ),
    );
    const witnessed: unknown[] = [];
    const restore = silenceConsole({ debug: (facts) => witnessed.push(facts) });
    try {
      const session = { indexInfo: { closed: -1 }, currentRatchet: { ephemeralKeyPair: { privKey: 'secret' } } };
      const record = new libsignal.SessionRecord();
      Reflect.get(record, 'closeSession').call(record, session);
      console.error('Session error:', session);
    } finally {
      restore();
      Object.assign(console, restoreProbe);
    }
    expect(printed).toEqual([]);
    expect(witnessed).toEqual([{ method: 'info' }, { method: 'error' }]);
  });
});

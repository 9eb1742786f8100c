import libsignal from 'libsignal';
import { silenceConsole } from './silent-console.js';

/** A console that notes what reaches it, in place of the process's own. */
function notedConsole(): { printed: unknown[]; restore: () => void } {
  const before = globalThis.console;
  const printed: unknown[] = [];
  const note = (...args: unknown[]): number => printed.push(args);
  globalThis.console = Object.assign(Object.create(before) as Console, { log: note, info: note, error: note });
  return { printed, restore: () => (globalThis.console = before) };
}

describe('silenceConsole', () => {
  it('lets nothing of a session that libsignal closes reach the console or the log', () => {
    const noted = notedConsole();
    const witnessed: unknown[] = [];
    const restore = silenceConsole({ debug: (facts) => witnessed.push(facts) });
    try {
      const session = { indexInfo: { closed: -1 }, currentRatchet: { ephemeralKeyPair: { privKey: 'secret' } } };
      const close: unknown = Reflect.get(libsignal.SessionRecord.prototype, 'closeSession');
      if (typeof close === 'function') Reflect.apply(close, new libsignal.SessionRecord(), [session]);
      globalThis.console.error('Session error:', session);
    } finally {
      restore();
      noted.restore();
    }
    expect(noted.printed).toEqual([]);
    expect(witnessed).toEqual([{ method: 'info' }, { method: 'error' }]);
  });
});

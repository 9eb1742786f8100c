import { EventEmitter } from 'node:events';
import { openLog } from './log.js';
import { runServer, type RunningServer } from './run-server.js';

function stage(start: () => Promise<RunningServer>, drainWithinMs?: number) {
  const lines: { level: string; msg: string; url?: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) };
  const events = new EventEmitter();
  let exited: (code: number) => void;
  const exitCode = new Promise<number>((resolve) => (exited = resolve));
  const host = {
    on: (event: string, listener: (error: unknown) => void) => events.on(event, listener),
    exit: (code: number) => exited(code),
  };
  const running = runServer({ log: openLog({ name: 'spec', destination }), start, drainWithinMs, host });
  return { running, events, exitCode, lines };
}

describe('runServer', () => {
  it('logs its url, drains on SIGTERM and exits 0', async () => {
    const steps: string[] = [];
    const drain = () => Promise.resolve(void steps.push('drained'));
    const { running, events, exitCode, lines } = stage(() => Promise.resolve({ url: 'http://127.0.0.1:1', drain }));
    await running;
    expect(lines).toMatchObject([{ level: 'info', msg: 'listening', url: 'http://127.0.0.1:1' }]);
    events.emit('SIGTERM');
    expect(await exitCode).toBe(0);
    expect(steps).toEqual(['drained']);
  });

  it('drains what a signal met in the middle of its start', async () => {
    let begin: (server: RunningServer) => void = () => undefined;
    const { events, exitCode } = stage(() => new Promise((resolve) => (begin = resolve)));
    events.emit('SIGINT');
    let drained = false;
    begin({ drain: () => Promise.resolve(void (drained = true)) });
    expect(await exitCode).toBe(0);
    expect(drained).toBe(true);
  });

  it('is cut off with 1 when the drain takes too long', async () => {
    const { running, events, exitCode } = stage(
      () => Promise.resolve({ drain: () => new Promise(() => undefined) }),
      5,
    );
    await running;
    events.emit('SIGTERM');
    expect(await exitCode).toBe(1);
  });

  it('ends at once on a second signal', async () => {
    const { running, events, exitCode } = stage(() => Promise.resolve({ drain: () => new Promise(() => undefined) }));
    await running;
    events.emit('SIGTERM');
    events.emit('SIGINT');
    expect(await exitCode).toBe(1);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('port taken'))],
    [
      'throws',
      () => {
        throw new Error('the environment is not usable');
      },
    ],
  ])('exits 1 when its start %s, and does not reject', async (_how, start) => {
    const { running, exitCode, lines } = stage(start);
    expect(await exitCode).toBe(1);
    await running;
    expect(lines).toMatchObject([{ level: 'fatal', msg: 'could not start' }]);
  });

  it('goes on after an unhandled rejection, and drains and exits 1 after an uncaught exception', async () => {
    let drained = false;
    const drain = () => Promise.resolve(void (drained = true));
    const { running, events, exitCode, lines } = stage(() => Promise.resolve({ drain }));
    await running;
    events.emit('unhandledRejection', new Error('of one session'));
    expect(drained).toBe(false);
    events.emit('uncaughtException', new Error('in the middle'));
    expect(await exitCode).toBe(1);
    expect(drained).toBe(true);
    expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      'info listening',
      'error unhandled rejection',
      'fatal uncaught exception',
      'info ended',
    ]);
  });
});

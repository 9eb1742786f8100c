/**
 * The life of a server process.
 *
 * - SIGTERM or SIGINT: drain, then exit 0. A drain that takes longer than 25 s is cut off with exit 1 (orchestrators
 *   kill after 30 s). A second signal ends it at once.
 * - A start that fails: logged, exit 1.
 * - An unhandled rejection is logged and the process goes on: it belongs to one request or one session, and ending the
 *   process would take hundreds of others with it.
 * - An uncaught exception ends the process, after a drain: code was left in the middle, so nothing it touched can be
 *   trusted for long, but others' work in flight deserves its end.
 */
import type { Logger } from './log.js';

const DRAIN_WITHIN_MS = 25_000;

export interface RunningServer {
  /** Where it can be reached, if it can be. */
  url?: string;
  /** Takes nothing new, finishes what is under way, lets go of everything. */
  drain(): Promise<void>;
}

/** The part of `process` that a server's life needs. */
export interface HostProcess {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
  on(event: 'unhandledRejection' | 'uncaughtException', listener: (error: unknown) => void): unknown;
  exit(code: number): void;
}

export interface ServerLife {
  log: Logger;
  start(): Promise<RunningServer>;
  drainWithinMs?: number;
  /** Default: this process. */
  host?: HostProcess;
}

/**
 * Starts a server and sees to its end. Logs `listening` with the url once it runs. Never rejects: a main module need not wait
 * for it, and must not where it is bundled, as what is imported later may import a part of the bundle's entry.
 */
export async function runServer(life: ServerLife): Promise<void> {
  const { log, drainWithinMs = DRAIN_WITHIN_MS, host = process } = life;
  let ending: Promise<void> | undefined;
  let started: Promise<RunningServer> | undefined;
  let cutOff: NodeJS.Timeout | undefined;

  const end = async (code: number): Promise<void> => {
    cutOff = setTimeout(() => {
      log.error({ drainWithinMs }, 'drain took too long; ending anyway');
      host.exit(1);
    }, drainWithinMs);
    let exitCode = code;
    try {
      await (await started)?.drain();
    } catch (error) {
      log.error({ err: error }, 'drain failed');
      exitCode = 1;
    }
    clearTimeout(cutOff);
    log.info({}, 'ended');
    host.exit(exitCode);
  };
  const onSignal = (signal: string) => (): void => {
    if (ending) {
      log.warn({ signal }, 'second signal; ending at once');
      clearTimeout(cutOff);
      host.exit(1);
      return;
    }
    log.info({ signal }, 'draining');
    ending = end(0);
  };
  host.on('SIGTERM', onSignal('SIGTERM'));
  host.on('SIGINT', onSignal('SIGINT'));
  host.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  host.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    ending ??= end(1);
  });

  try {
    started = life.start();
    const { url } = await started;
    log.info(url === undefined ? {} : { url }, 'listening');
  } catch (error) {
    started = undefined;
    log.fatal({ err: error }, 'could not start');
    host.exit(1);
  }
}

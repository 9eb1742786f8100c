/**
 * Lets others serve the numbers of a worker that was killed within seconds, and not only when its leases have ended.
 *
 * A lease must be long: it is how long PostgreSQL may be slow, the network cut or a process paused before a worker closes
 * the sockets of its numbers. Its end is needed where nobody can know whether the owner still holds sockets. Of a process
 * that has died its own machine does know, and two witnesses there say so:
 *
 * - **A process beside the worker** (`death-watch-program.ts`), started by this class. It waits at the end of a pipe that the
 *   kernel closes with the worker, and then checks that its parent is another process than before: the kernel gives a child
 *   a new parent only when the old one is dead. A paused, busy or swapping worker has neither; a cut network is not seen
 *   at all. The kernel closes the pipe along with all other files of the process, its sockets among them, in no certain order:
 *   some of those may still be closing when both proofs are there. So `after-death.ts` leaves them a moment before it frees
 *   the shards, and the network has seen the sockets of the numbers close before others are opened.
 * - **The next worker in the same pod** (`ShardLeases.freeThoseOfEarlierWorkers`). In a container the worker is the first process,
 *   with which the kernel ends all others there, the one beside it included. Kubernetes starts a container of a pod again when
 *   the one before it has ended, never beside it, and gives no two pods the same uid.
 *
 * A machine that is lost has no witness, and a cut network no difference to see: there the lease's end decides, as before.
 * So it does with PostgreSQL away, and when the process beside the worker could not be started or was killed, too.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { LogOf } from '@dormouse/bootstrap';

/** What the process beside the worker is given, as one line of JSON. A second line, whatever it holds: the worker ends in order. */
export interface DeathWatchOrder {
  readonly workerId: string;
  readonly workerPid: number;
  /** Of the regional database. Passed by the pipe: others can read the arguments of a process. */
  readonly databaseUrl: string;
  /** After that long there is nothing left to free. */
  readonly leaseTtlMs: number;
}

export interface DeathWatchOptions extends Omit<DeathWatchOrder, 'workerPid'> {
  /** Path of the built `death-watch-program.js`. */
  readonly program: string;
  readonly log: LogOf<'warn'>;
}

/** It waits, and then sends two statements. */
const SMALL_HEAP = ['--max-old-space-size=32', '--max-semi-space-size=1'];
const RESTART_AFTER_MS = 5_000;

/** The worker's side of the process beside it. */
export class DeathWatch {
  private child: ChildProcess | undefined;
  private restart: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(private readonly options: DeathWatchOptions) {}

  /** Starts the process. If it ends before the worker does, another one is started. */
  start(): void {
    const { program, log, workerId, databaseUrl, leaseTtlMs } = this.options;
    const order: DeathWatchOrder = { workerId, workerPid: process.pid, databaseUrl, leaseTtlMs };
    // A process group of its own: what ends the worker's must not end the witness.
    const child = spawn(process.execPath, [...SMALL_HEAP, program], {
      detached: true,
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    this.child = child;
    const gone = (reason: string): void => {
      if (this.ended || this.child !== child) return;
      this.child = undefined;
      log.warn(
        { reason },
        'death watch ended: until it is back, shards of a killed worker wait for the end of their leases',
      );
      this.restart = setTimeout(() => this.start(), RESTART_AFTER_MS).unref();
    };
    child.once('error', (error) => gone(error.message));
    child.once('exit', (code, signal) => gone(signal ?? `code ${code}`));
    child.stdin.on('error', () => undefined); // its end is reported above
    child.stdin.write(`${JSON.stringify(order)}\n`);
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
  }

  /** Call it when the shards are released: the end of this process is no death. */
  end(): void {
    this.ended = true;
    clearTimeout(this.restart);
    this.child?.stdin?.end('in order\n');
  }
}

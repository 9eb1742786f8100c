/**
 * The worker's side of the media process (media-program.ts). Guarantees:
 * - files made by strangers are opened outside the worker, in a bounded number of processes, each with a hard bound on its
 *   memory and without secrets in its environment;
 * - a task that exceeds its timeout, or whose caller's signal is aborted, is ended by killing its process;
 * - no channel delays the tasks of others for long (fair-queue.ts).
 * Processes are started on demand and killed when they are idle for a while.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { backgroundCommand } from './background-command.js';
import { FairQueue } from './fair-queue.js';
import { FileRefused } from './file-refused.js';
import { processorMsOf, startTimeout, type WorkTimeout } from './processor-timeout.js';
import type { MediaTask, TaskInput, TaskReply, TaskRequest, TaskResult } from './media-tasks.js';

export interface MediaProcessOptions {
  /** Path of the built media program. */
  program: string;
  /** Parallel processes; further tasks wait. */
  maxParallel?: number;
  /** Limit of the writable memory of one process. Before it decodes anything it uses some 90 MiB. */
  memoryLimitMib?: number;
  /** Idle time after which a process is killed. */
  idleMs?: number;
}

/** The owner of a task, and the bounds on its time. */
export interface TaskTerms extends WorkTimeout {
  /** The channel. */
  owner: string;
  /** When it is aborted, a waiting task is dropped and a running one is ended. */
  signal?: AbortSignal | undefined;
}

/** A process, and the callback for the reply of its current task. */
interface Slot {
  readonly child: ChildProcess;
  settle: ((outcome: TaskReply | Error) => void) | undefined;
}

/** V8 of Node 24 maps this much before it runs anything (24.21 ends at once below some 540 MiB), and uses little of it. */
const RESERVED_BY_V8_MIB = Number(process.versions.node.split('.')[0]) >= 24 ? 512 : 0;

export class MediaProcess {
  readonly #queue: FairQueue;
  readonly #idle: Slot[] = [];
  readonly #children = new Set<ChildProcess>();
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: MediaProcessOptions) {
    this.#queue = new FairQueue({ slots: options.maxParallel ?? 2, slotsPerOwner: 1 });
  }

  /**
   * Runs one task when a process is free.
   * @throws {FileRefused} when the file is not of the required type, or exceeds the bounds on time or memory; the
   * signal's reason; {Error} when no process can be started
   */
  run<Task extends MediaTask>(task: Task, input: TaskInput<Task>, terms: TaskTerms): Promise<TaskResult<Task>> {
    const request = { task, input } as TaskRequest;
    return this.#queue.run(
      terms.owner,
      async (signal) => (await this.#perform(request, { ...terms, signal })) as TaskResult<Task>,
      terms.signal,
      { canRestart: true },
    );
  }

  /** Kills all processes. Running tasks fail. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const child of this.#children) child.kill('SIGKILL');
  }

  async #perform(request: TaskRequest, { signal, ...timeout }: TaskTerms): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error('the worker is stopping');
    clearTimeout(this.#idleTimer);
    const slot = this.#idle.pop() ?? this.#start();
    const reply = await new Promise<TaskReply>((resolve, reject) => {
      const end = (reason: Error): void => {
        settle(reason);
        slot.child.kill('SIGKILL');
      };
      const endLate = (): void => end(new FileRefused('takes too long to open: send a smaller file'));
      const cancelTimeout = startTimeout(timeout, endLate, () => processorMsOf(slot.child.pid));
      const giveUp = (): void => end(signal?.reason as Error);
      const settle = (outcome: TaskReply | Error): void => {
        slot.settle = undefined;
        cancelTimeout();
        signal?.removeEventListener('abort', giveUp);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      slot.settle = settle;
      signal?.addEventListener('abort', giveUp, { once: true });
      slot.child.send(request, (error) => error && slot.settle?.(error));
    });
    this.#rest(slot);
    if ('result' in reply) return reply.result;
    throw new FileRefused('refused' in reply ? reply.refused : 'cannot be opened');
  }

  #rest(slot: Slot): void {
    this.#idle.push(slot);
    this.#idleTimer = setTimeout(() => {
      for (const { child } of this.#idle.splice(0)) child.kill('SIGKILL');
    }, this.options.idleMs ?? 30_000).unref();
  }

  #start(): Slot {
    const { program, memoryLimitMib = 448 } = this.options;
    const node = [process.execPath, '--max-old-space-size=128', program];
    const child = spawn(...backgroundCommand('data', memoryLimitMib + RESERVED_BY_V8_MIB, node), {
      // The worker's own environment is not passed on: it has keys.
      env: { MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '2' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    const slot: Slot = { child, settle: undefined };
    this.#children.add(child);
    const gone = (error: Error): void => {
      this.#children.delete(child);
      const place = this.#idle.indexOf(slot);
      if (place !== -1) this.#idle.splice(place, 1);
      slot.settle?.(error);
    };
    child.on('message', (reply: TaskReply) => slot.settle?.(reply));
    child.once('error', gone);
    child.once('exit', (code, signal) => gone(endOf(code, signal)));
    // An idle process does not keep the worker alive.
    child.unref();
    child.channel?.unref();
    return slot;
  }
}

/** The error for a task whose process ended before its reply. */
function endOf(code: number | null, signal: NodeJS.Signals | null): Error {
  // Without memory it aborts or is killed by the system, which is the file's fault; any other exit is ours.
  if (signal !== null || (code ?? 0) > 128)
    return new FileRefused('takes too much memory to open: send a smaller file');
  return new Error(`the media process ended with ${code}`);
}

/**
 * The worker's side of the media process (media-program.ts). What it guarantees: files that strangers made are opened
 * outside the worker, by a few processes at most, each with a hard bound on its memory and without anything secret; a
 * task that takes too long, or whose caller has gone, ends with its process; no channel keeps others waiting for long
 * (fair-queue.ts). Processes start when they are needed and end when nothing was asked of them for a while.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { FairQueue } from './fair-queue.js';
import { FileRefused } from './file-refused.js';
import type { MediaTask, TaskInput, TaskReply, TaskRequest, TaskResult } from './media-tasks.js';

export interface MediaProcessOptions {
  /** Path of the built media program. */
  program: string;
  /** Processes at a time; further tasks wait. */
  maxParallel?: number;
  /** Writable memory of one process. Without anything decoded it has some 90 MiB. */
  memoryLimitMib?: number;
  /** A process that was asked nothing for so long ends. */
  idleMs?: number;
}

/** Whose task it is, and how long it may take. */
export interface TaskTerms {
  /** The channel. */
  owner: string;
  /** From the start of the task. */
  timeoutMs: number;
  /** The caller gave up: what waits is dropped, what runs is ended. */
  signal?: AbortSignal | undefined;
}

/** A process, and whoever waits for its reply. */
interface Slot {
  readonly child: ChildProcess;
  settle: ((outcome: TaskReply | Error) => void) | undefined;
}

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
   * Does one task in its turn.
   * @throws {FileRefused} when the file is not what it should be, or takes too long or too much memory; the signal's
   * reason; {Error} when no process can be started
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

  /** Ends all processes. Tasks under way fail. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const child of this.#children) child.kill('SIGKILL');
  }

  async #perform(request: TaskRequest, { timeoutMs, signal }: TaskTerms): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error('the worker stops');
    clearTimeout(this.#idleTimer);
    const slot = this.#idle.pop() ?? this.#start();
    const reply = await new Promise<TaskReply>((resolve, reject) => {
      const end = (reason: Error): void => {
        settle(reason);
        slot.child.kill('SIGKILL');
      };
      const timer = setTimeout(() => end(new FileRefused('takes too long to open: send a smaller file')), timeoutMs);
      const giveUp = (): void => end(signal?.reason as Error);
      const settle = (outcome: TaskReply | Error): void => {
        slot.settle = undefined;
        clearTimeout(timer);
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
    // The shell only bounds the memory (where the system can) and becomes the process.
    const script = 'ulimit -d "$0" 2>/dev/null; exec "$@"';
    const node = [process.execPath, '--max-old-space-size=128', program];
    const child = spawn('/bin/sh', ['-c', script, String(memoryLimitMib * 1024), ...node], {
      // Nothing of the worker's own environment: it holds keys.
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
    // What waits for a reply keeps the worker alive; an idle process does not.
    child.unref();
    child.channel?.unref();
    return slot;
  }
}

/** What the end of a process in the middle of a task says of the file. */
function endOf(code: number | null, signal: NodeJS.Signals | null): Error {
  // It aborts, or is ended by the system, when it cannot have more memory; everything else is our fault.
  if (signal !== null || (code ?? 0) > 128)
    return new FileRefused('takes too much memory to open: send a smaller file');
  return new Error(`the media process ended with ${code}`);
}

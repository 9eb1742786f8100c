/**
 * Work on a Signal session runs in the context of its caller.
 *
 * Why: libsignal queues such work by address, for everybody in the process, and the caller that found the queue empty runs all of it
 * in its own asynchronous context. Two channels of one worker that receive from the same person share a queue: the later one's
 * key transaction, which is found by that context, would not be seen, and the step of its ratchet would be stored by
 * itself, before what was decrypted is in the journal.
 */
import { AsyncResource } from 'node:async_hooks';
import libsignal from 'libsignal';

type Job = () => Promise<unknown>;
type Queue = (this: unknown, job: Job) => Promise<unknown>;

const QUEUE = 'queueJob';

/** Makes libsignal, which is changed for the whole process, keep the context. */
export function keepContextInLibsignalQueue(): void {
  const { prototype } = libsignal.SessionCipher;
  const queue: unknown = Reflect.get(prototype, QUEUE);
  if (typeof queue !== 'function') throw new Error('libsignal is not what it was: its work loses its context');
  const keeping: Queue = function keeping(job) {
    return Reflect.apply(queue, this, [AsyncResource.bind(job)]) as Promise<unknown>;
  };
  Reflect.set(prototype, QUEUE, keeping);
}

/**
 * Keeps streaming cheap in memory. Every piece of a stream is a buffer outside the heap, and V8 collects those only when
 * 32 MiB of them have died; a process that passes on files then looks (and is) 30 to 50 MiB larger than what it holds.
 * While files are streamed, the young generation is collected as soon as a few MiB have gathered; that costs a
 * millisecond or two each time and leaves about what is really in flight.
 */
import { finished, type Readable } from 'node:stream';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 10;
const COLLECT_AT_BYTES = 4 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

/** V8's own collector; it has no other name in Node. */
function collector(): Collect | undefined {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof found === 'function' ? (found as Collect) : undefined;
}

let collect: Collect | undefined;
let streaming = 0;
let timer: NodeJS.Timeout | undefined;
let leftOver = 0;

const outside = (): number => getHeapStatistics().external_memory;

function look(): void {
  const now = outside();
  if (now < leftOver) leftOver = now;
  if (now - leftOver < COLLECT_AT_BYTES) return;
  collect ??= collector();
  collect?.({ type: 'minor' });
  leftOver = outside();
}

function begin(): () => void {
  streaming += 1;
  leftOver = streaming === 1 ? outside() : leftOver;
  timer ??= setInterval(look, LOOK_EVERY_MS).unref();
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    streaming -= 1;
    if (streaming > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Does work that streams files, collecting what that leaves behind. */
export async function tidily<T>(work: () => Promise<T>): Promise<T> {
  const end = begin();
  try {
    return await work();
  } finally {
    end();
  }
}

/** The same for a stream that is handed on: until it has ended, failed or been closed. */
export function tidy<Stream extends Readable>(stream: Stream): Stream {
  const end = begin();
  finished(stream, { writable: false }, end);
  return stream;
}

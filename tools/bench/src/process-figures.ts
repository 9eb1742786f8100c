import { once } from 'node:events';
import { residentBytes } from '@dormouse/stack/process-memory';
import { WebSocket } from 'ws';

/** Memory in bytes. */
export interface Memory {
  rssBytes: number;
  heapBytes: number;
}

/** What is in use after a collection. */
export interface MemoryInUse extends Memory {
  /** What buffers hold beside the heap; 0 where Node does not report it (before 24). */
  bufferBytes: number;
}

interface HeapUsage {
  usedSize: number;
  backingStorageSize?: number;
}

/** Collects the garbage of a Node process that was started with `--inspect=<port>`, then reads its memory. */
export async function memoryAfterCollection(pid: number, inspectPort: number): Promise<MemoryInUse> {
  const listed = await fetch(`http://127.0.0.1:${inspectPort}/json`);
  const [target] = (await listed.json()) as { webSocketDebuggerUrl: string }[];
  if (!target) throw new Error(`process ${pid} has no inspector`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, 'open');
  const call = async <T>(id: number, method: string): Promise<T> => {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [data] = (await once(socket, 'message')) as [Buffer];
      const message = JSON.parse(data.toString()) as { id?: number; result: T };
      if (message.id === id) return message.result;
    }
  };
  try {
    for (let id = 1; id <= 3; id += 1) await call(id, 'HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize = 0 } = await call<HeapUsage>(4, 'Runtime.getHeapUsage');
    return { rssBytes: await residentBytes(pid), heapBytes: usedSize, bufferBytes: backingStorageSize };
  } finally {
    socket.close();
  }
}

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';

const run = promisify(execFile);

/** Resident memory of a process in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) * 1024;
}

/** A port that nobody listens on at the moment. */
export async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Memory in bytes. */
export interface Memory {
  rssBytes: number;
  heapBytes: number;
}

/** Frees what nobody holds in a Node process that was started with `--inspect=<port>`, then reads its memory. */
export async function memoryAfterCollection(pid: number, inspectPort: number): Promise<Memory> {
  const listed = await fetch(`http://127.0.0.1:${inspectPort}/json`);
  const [target] = (await listed.json()) as { webSocketDebuggerUrl: string }[];
  if (!target) throw new Error(`process ${pid} has no inspector`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await once(socket, 'open');
  const ask = async <T>(id: number, method: string): Promise<T> => {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [data] = (await once(socket, 'message')) as [Buffer];
      const message = JSON.parse(data.toString()) as { id?: number; result: T };
      if (message.id === id) return message.result;
    }
  };
  try {
    for (let id = 1; id <= 3; id += 1) await ask(id, 'HeapProfiler.collectGarbage');
    const { usedSize } = await ask<{ usedSize: number }>(4, 'Runtime.getHeapUsage');
    return { rssBytes: await residentBytes(pid), heapBytes: usedSize };
  } finally {
    socket.close();
  }
}

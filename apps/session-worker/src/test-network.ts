/** For integration specs: the simulated network as a child process, and its phones over its control port. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { builtApp } from '@dormouse/stack/built-app';

export interface TestNetwork {
  readonly socketUrl: string;
  readonly rootKey: Buffer;
  /** Calls the control port. @throws when the answer is no success */
  call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T>;
  stop(): Promise<void>;
}

interface Listening {
  listening: { control: string; socketUrl: string; rootKey: string };
}

export async function startTestNetwork(env: Record<string, string> = {}): Promise<TestNetwork> {
  const { entry, nodeVariables } = builtApp('network-simulator');
  const child: ChildProcess = spawn(process.execPath, [entry], {
    env: { ...nodeVariables, PORT: '0', LOG_LEVEL: 'fatal', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('the simulator has no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { control, socketUrl, rootKey } = (JSON.parse(line) as Listening).listening;
  return {
    socketUrl,
    rootKey: Buffer.from(rootKey, 'base64'),
    call: async <T>(method: string, path: string, body?: unknown) => {
      const given =
        body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const response = await fetch(`${control}${path}`, { method, ...given });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

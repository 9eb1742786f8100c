import type { AppName, AppSwitches, Stack } from '@dormouse/stack';

/** What a journey uses of a stack that other journeys use after it: it gives no switches. */
export interface SharedStack extends Addresses {
  /** Kills every session worker. Start one again before the journey ends. */
  killWorkers(signal: 'SIGKILL'): Promise<void>;
  /** Starts a session worker, and waits until it is ready. */
  startWorker(): Promise<unknown>;
  /** Ends an app (every worker) cleanly and starts it again, after `whileDown`. */
  restart(app: AppName, options?: { whileDown?: () => Promise<void> }): Promise<void>;
  stop(): Promise<void>;
}

type Addresses = Pick<Stack, 'urls' | 'publicUrl' | 'databases' | 'accountKey' | 'probes'>;

/**
 * The stack of this Jest worker, started if this is the first file that requests it; every file gives the same switches.
 * `stop` leaves it running for the next file.
 * @throws when the stack does not start, or outside of Jest's e2e project
 */
export async function openSharedStack(switches: AppSwitches): Promise<SharedStack> {
  const { TEST_SHARED_STACKS_URL: url, JEST_WORKER_ID: worker = '1' } = process.env;
  if (url === undefined) throw new Error('no shared stacks: their global setup belongs to the e2e project');
  const post = async <Answer>(path: string, body: object): Promise<Answer> => {
    const response = await fetch(`${url}/stacks/${worker}${path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`shared stack${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  return {
    ...(await post<Addresses>('', switches)),
    killWorkers: () => post('/kills/session-worker', {}),
    startWorker: () => post('/joins/session-worker', {}),
    restart: async (app, { whileDown } = {}) => {
      await post(`/stops/${app}`, {});
      try {
        await whileDown?.();
      } finally {
        await post(`/starts/${app}`, {});
      }
    },
    stop: () => Promise.resolve(),
  };
}

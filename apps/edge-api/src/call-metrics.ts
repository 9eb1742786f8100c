import type { CommandClient } from '@dormouse/queues';
import { Gauge, type Registry } from 'prom-client';

/** Measures how many requests wait for a worker. */
export function measureCalls(registry: Registry, commands: Pick<CommandClient, 'pendingCalls'>): void {
  new Gauge({
    name: 'dormouse_pending_calls',
    help: 'Commands that this edge has called and that are not answered yet',
    registers: [registry],
    collect() {
      this.set(commands.pendingCalls);
    },
  });
}

import { EventEmitter } from 'node:events';
import { Registry } from 'prom-client';
import { measureConnections } from './connection-metrics.js';

describe('measureConnections', () => {
  it('reports how pools and clients are at each scrape, and counts what was lost', async () => {
    const pool = Object.assign(new EventEmitter(), { totalCount: 5, idleCount: 2, waitingCount: 7 });
    const redis = Object.assign(new EventEmitter(), { status: 'ready' });
    const registry = new Registry();
    measureConnections(registry, { databases: { regional: pool }, redis: { commands: redis } });
    redis.status = 'reconnecting';
    redis.emit('error', new Error('refused'));
    const text = await registry.metrics();
    for (const line of [
      'dormouse_database_connections{database="regional",state="busy"} 3',
      'dormouse_database_connections{database="regional",state="idle"} 2',
      'dormouse_database_connections{database="regional",state="waiting"} 7',
      'dormouse_redis_connected{connection="commands"} 0',
      'dormouse_connection_errors_total{to="regional"} 0',
      'dormouse_connection_errors_total{to="commands"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });
});

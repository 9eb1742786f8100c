import { openProbeServer, Probes } from './probes.js';

describe('Probes', () => {
  it('has a server of its own for processes without one', async () => {
    const probes = new Probes({ app: 'spec', checks: {} });
    const server = await openProbeServer({ probes, port: 0, host: '127.0.0.1' });
    const metrics = await fetch(`${server.url}/metrics`);
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toContain('process_cpu_user_seconds_total{app="spec"}');
    expect((await fetch(`${server.url}/readyz?x=1`)).status).toBe(200);
    expect((await fetch(`${server.url}/other`)).status).toBe(404);
    expect((await fetch(`${server.url}/healthz`, { method: 'POST' })).status).toBe(404);
    await server.close();
  });
});

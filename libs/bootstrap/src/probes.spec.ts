import { Probes } from './probes.js';

describe('Probes', () => {
  it('is alive always, ready only while every check passes', async () => {
    let connected = false;
    const checks = { redis: () => connected, database: () => Promise.resolve(true), broken: () => !connected || true };
    const probes = new Probes({ app: 'spec', checks });
    expect(await probes.answer('/healthz')).toMatchObject({ status: 200 });
    expect(await probes.answer('/readyz')).toMatchObject({
      status: 503,
      body: JSON.stringify({ status: 'not ready', missing: ['redis'] }),
    });
    connected = true;
    expect(await probes.answer('/readyz')).toMatchObject({ status: 200 });
  });

  it('counts a check that throws as failed', async () => {
    const probes = new Probes({ app: 'spec', checks: { database: () => Promise.reject(new Error('down')) } });
    expect(await probes.answer('/readyz')).toMatchObject({ status: 503 });
  });

  it('is not ready once a drain has begun', async () => {
    const probes = new Probes({ app: 'spec', checks: {} });
    probes.startDraining();
    expect(await probes.answer('/readyz')).toMatchObject({ status: 503, body: '{"status":"draining"}' });
    expect(await probes.answer('/healthz')).toMatchObject({ status: 200 });
  });

  it('answers no other path', async () => {
    const probes = new Probes({ app: 'spec', checks: {} });
    expect(await probes.answer('/healthz/')).toBeUndefined();
    expect(await probes.answer('/')).toBeUndefined();
  });
});

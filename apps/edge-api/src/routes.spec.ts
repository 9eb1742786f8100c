import { openLog, Probes } from '@dormouse/bootstrap';
import type { RouteOptions } from 'fastify';
import type { AccessServices } from './access/access-chain.js';
import type { AppServices } from './app.module.js';
import { createApp } from './create-app.js';
import { contractRoutes } from './test-contract.js';

describe('routes', () => {
  it('are exactly the 56 endpoints of the contract, HEAD not among them', async () => {
    const app = await createApp({
      services: {
        directory: {},
        messages: {},
        groups: {},
        commands: {},
        settings: {},
        rateLimits: {},
        idempotencyKeys: {},
        media: {},
      } as AppServices,
      access: { probes: new Probes({ app: 'spec', checks: {} }), maxJsonBytes: 1 } as AccessServices,
      allowedOrigins: '*',
      site: { docsUrl: '', supportAddress: '' },
      log: openLog({ name: 'spec', level: 'silent' }),
    });
    const routes: string[] = [];
    const note = ({ method, url }: RouteOptions) =>
      void routes.push(`${String(method)} ${url.replace(/:(\w+)/g, '{$1}')}`);
    app.getHttpAdapter().getInstance().addHook('onRoute', note);
    await app.init();
    await app.close();
    const expected = contractRoutes();
    expect(expected).toHaveLength(56);
    expect(routes.sort()).toEqual(expected.sort());
  });
});

import { API_VERSION, type World } from './world.js';
import { newId } from '../wire/ids.js';

/** Makes an endpoint with a secret that is known beforehand, unless one with this address is there; then it gets the secret. */
export function ensureEndpoint(world: World, { url, secret }: { url: string; secret: string }): void {
  const secrets = [{ secret, untilMs: null }];
  const [present] = world.store.webhookEndpoints.filter((one) => one.url === url);
  world.store.transact(() => {
    if (present) {
      world.store.webhookEndpoints.change(present.id, { secrets });
      return;
    }
    world.store.webhookEndpoints.put({
      ...{ id: newId('we'), object: 'webhook_endpoint', created: world.now(null), url, secrets, status: 'enabled' },
      ...{ api_version: API_VERSION, description: null, enabled_events: ['*'], metadata: {} },
    });
  });
}

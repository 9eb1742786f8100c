import { z } from 'zod';
import type { WebhookEndpoint } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import {
  flag,
  list,
  listParameters,
  mergeMetadata,
  metadata,
  moments,
  parameters,
  removable,
  text,
  url,
  within,
} from '../wire/parameters.js';
import { invalid, noSuch } from '../wire/stripe-fault.js';
import { API_VERSION, type World } from '../world/world.js';
import { listAnswer } from './lists.js';
import { operation } from './operation.js';

const MAX_ENDPOINTS = 16;
const eventNames = list(
  text.regex(/^(\*|[a-z_]+(\.[a-z_]+)+)$/, { error: ({ input }) => `Invalid enabled_events: ${String(input)}` }),
);

function endpointOf(world: World, id: string): WebhookEndpoint {
  const endpoint = world.store.webhookEndpoints.get(id);
  if (!endpoint) throw noSuch('webhook endpoint', id);
  return endpoint;
}

const endpointOperations = [
  operation(
    'POST',
    '/v1/webhook_endpoints',
    parameters({
      ...{ url, enabled_events: eventNames, api_version: z.literal(API_VERSION).optional() },
      ...{ description: removable(text).optional(), metadata: metadata.optional() },
    }),
    (world, given) => {
      if ([...world.store.webhookEndpoints.oldestFirst()].length >= MAX_ENDPOINTS)
        throw invalid(`You have reached the maximum of ${MAX_ENDPOINTS} webhook endpoints.`);
      const secret = newId('whsec');
      const endpoint = world.store.webhookEndpoints.put({
        ...{ id: newId('we'), object: 'webhook_endpoint', created: world.now(null), status: 'enabled', url: given.url },
        ...{ api_version: given.api_version ?? null, description: given.description ?? null },
        ...{ enabled_events: given.enabled_events, metadata: mergeMetadata({}, given.metadata) },
        secrets: [{ secret, untilMs: null }],
      });
      // The secret is shown this once.
      return { object: { ...world.views.of(endpoint), secret } };
    },
  ),
  operation('GET', '/v1/webhook_endpoints', listParameters({}), (world, given) =>
    listAnswer(world, world.store.webhookEndpoints, given, '/v1/webhook_endpoints', () => true),
  ),
  operation('GET', '/v1/webhook_endpoints/:endpoint', parameters({}), (world, _, { endpoint = '' }) => ({
    record: endpointOf(world, endpoint),
  })),
  operation(
    'POST',
    '/v1/webhook_endpoints/:endpoint',
    parameters({
      ...{ url: url.optional(), enabled_events: eventNames.optional(), disabled: flag.optional() },
      ...{ description: removable(text).optional(), metadata: metadata.optional() },
    }),
    (world, given, { endpoint: id = '' }) => {
      const before = endpointOf(world, id);
      const record = world.store.webhookEndpoints.change(id, {
        ...(given.url !== undefined && { url: given.url }),
        ...(given.enabled_events && { enabled_events: given.enabled_events }),
        ...(given.disabled !== undefined && { status: given.disabled ? 'disabled' : 'enabled' }),
        ...(given.description !== undefined && { description: given.description }),
        metadata: mergeMetadata(before.metadata, given.metadata),
      });
      return { record };
    },
  ),
  operation('DELETE', '/v1/webhook_endpoints/:endpoint', parameters({}), (world, _, { endpoint: id = '' }) => {
    endpointOf(world, id);
    world.store.webhookEndpoints.remove(id);
    return { object: { id, object: 'webhook_endpoint', deleted: true } };
  }),
];

/** Whether an event's name is what was asked for; `invoice.*` stands for all that begin so. */
function isNamed(type: string, wanted: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

export const webhookOperations = [
  ...endpointOperations,
  operation(
    'GET',
    '/v1/events',
    listParameters({
      ...{ type: text.optional(), types: list(text).optional(), created: moments.optional() },
      delivery_success: flag.optional(),
    }),
    (world, given) => {
      if (given.type !== undefined && given.types)
        throw invalid('You may only specify one of `type` or `types`.', 'type');
      return listAnswer(world, world.store.events, given, '/v1/events', (event) => {
        const isWanted = given.type === undefined || isNamed(event.type, given.type);
        const isAmong = given.types === undefined || given.types.includes(event.type);
        if (!isWanted || !isAmong || !within(given.created, event.created)) return false;
        if (given.delivery_success === undefined) return true;
        return (world.views.of(event).pending_webhooks === 0) === given.delivery_success;
      });
    },
  ),
  operation('GET', '/v1/events/:event', parameters({}), (world, _, { event = '' }) => {
    const record = world.store.events.get(event);
    if (!record) throw noSuch('event', event);
    return { record };
  }),
];

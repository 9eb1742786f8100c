import { WebhookSecrets, type ChannelSeals } from '@dormouse/channel-directory';
import type { RegionalDatabase } from '@dormouse/database';
import { Cursors, DeadLetters, HeldEvents } from '@dormouse/event-outbox/delivery';
import type { FreshLinks } from '@dormouse/media-store/read';
import type { Registry } from 'prom-client';
import type { RunAhead } from './acceptances.js';
import { Attempts } from './attempts.js';
import { Delivery } from './delivery.js';
import type { DeliveryLog } from './delivery-log.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { Dispatcher, type DispatcherSettings, type EventSignals } from './dispatcher.js';
import { HostSlots } from '../http/host-slots.js';
import { Poster } from './poster.js';
import { RedirectNotices } from './redirect-notices.js';
import { Retries } from './retries.js';
import { WebhookClient } from '../http/webhook-client.js';
import { WhileLeased } from './while-leased.js';

/** How webhooks are called and how many at a time. */
export interface DeliverySettings extends DispatcherSettings {
  /** A receiver must have answered by then. */
  postTimeoutMs: number;
  /** How long a claim holds without renewal. */
  leaseMs: number;
  postsPerHost: number;
  /** Longest wait of a post for a slot of its host. */
  hostWaitMs: number;
  batchSize: number;
  /** Age of what was read of a webhook after which it is read again. */
  readAgainMs: number;
  /** How far a quick receiver may be ahead of the database. */
  runAhead: RunAhead;
  /** An event that is not accepted within this time becomes a dead letter. */
  deadAfterMs: number;
  allowPrivateWebhooks: boolean;
}

export const DELIVERY_DEFAULTS: Omit<DeliverySettings, 'allowPrivateWebhooks'> = {
  maxDeliveries: 1_000,
  sweepMs: 5_000,
  pollMs: 1_000,
  turnMs: 5_000,
  drainMs: 4_000,
  postTimeoutMs: 10_000,
  leaseMs: 30_000,
  postsPerHost: 100,
  hostWaitMs: 2_000,
  batchSize: 32,
  readAgainMs: 1_000,
  runAhead: { mostEvents: 32, withinMs: 10, quickMs: 5 },
  deadAfterMs: 72 * 3_600_000,
};

/** Part of the lease that is reserved for recording the outcome. */
const RECORD_MS = 5_000;

/** The client for calls of webhooks. Close it after the dispatcher has stopped. */
export function createWebhookClient(settings: DeliverySettings): WebhookClient {
  return new WebhookClient({
    timeoutMs: settings.postTimeoutMs,
    connectionsPerHost: settings.postsPerHost,
    allowPrivate: settings.allowPrivateWebhooks,
  });
}

/** Puts a dispatcher together; it does nothing until started. */
export function createDispatcher(parts: {
  database: Pick<RegionalDatabase, 'pool'>;
  /** Opens what is sealed of channels. */
  seals?: ChannelSeals;
  subscribe: (onEvents: (channelId: string) => void) => EventSignals;
  links: Pick<FreshLinks, 'inEvents'>;
  client: WebhookClient;
  settings: DeliverySettings;
  registry: Registry;
  log: DeliveryLog;
}): Dispatcher {
  const { database, seals, links, client, settings, registry, log, subscribe } = parts;
  const metrics = new DeliveryMetrics(registry);
  const cursors = new Cursors({ database, leaseMs: settings.leaseMs });
  const leased = new WhileLeased();
  const poster = new Poster({
    cursors,
    client,
    hosts: new HostSlots({ perHost: settings.postsPerHost, waitMs: settings.hostWaitMs }),
    secrets: new WebhookSecrets(database, seals),
    links,
    metrics,
    leased,
    postNeedsMs: settings.postTimeoutMs + RECORD_MS,
    now: () => performance.now(),
    clock: Date.now,
  });
  const held = new HeldEvents(database);
  const redirects = new RedirectNotices(database, (channelId) => dispatcher.wake(channelId));
  const random = Math.random;
  const attempts = new Attempts({
    ...{ cursors, held, poster, redirects, leased, metrics, log, random },
    deadAfterMs: settings.deadAfterMs,
  });
  const delivery = new Delivery({
    ...{ database, seals, cursors, held, attempts, poster, leased, random },
    retries: new Retries({ attempts, held, leased }),
    deadLetters: new DeadLetters(database),
    batchSize: settings.batchSize,
    readAgainMs: settings.readAgainMs,
    runAhead: settings.runAhead,
  });
  const abandonPosts = (): void => client.abandonAll();
  const dispatcher: Dispatcher = new Dispatcher({ cursors, delivery, abandonPosts, subscribe, metrics, log, settings });
  return dispatcher;
}

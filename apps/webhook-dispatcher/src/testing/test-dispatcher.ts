import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import type { WebhookEntry } from '@dormouse/gateway-contract';
import type { FreshLinks } from '@dormouse/media-store/read';
import { Registry } from 'prom-client';
import {
  createDispatcher,
  createWebhookClient,
  DELIVERY_DEFAULTS,
  type DeliverySettings,
} from '../delivery/create-dispatcher.js';
import type { Dispatcher, EventSignals } from '../delivery/dispatcher.js';

/** A line the dispatcher logged. */
export interface LoggedLine {
  facts: object;
  message: string;
}

/** A running dispatcher with its own connections, as another process would have. */
export interface RunningDispatcher {
  dispatcher: Dispatcher;
  logged: LoggedLine[];
  registry: Registry;
  /** Notifies that the channel has events, as Redis would. */
  signal(channelId: string): void;
  stop(): Promise<void>;
}

export const DISPATCHER_NAME = 'dispatcher-under-test';

/** A webhook entry with the contract's defaults. */
export function webhook(entry: Partial<WebhookEntry> & { url: string }): WebhookEntry {
  return { mode: 'body', events: [{ type: 'messages', method: 'post' }], ...entry };
}

/**
 * Starts a dispatcher on a regional database. Without `subscribe` its signals come from the spec and count as live, and
 * sweeps are a minute apart, so that what is delivered was delivered by a signal.
 */
export function startDispatcher(
  url: string,
  options: {
    settings?: Partial<DeliverySettings>;
    subscribe?: (onEvents: (channelId: string) => void) => EventSignals;
    /** Absent: events have no links. */
    links?: (database: RegionalDatabase) => Pick<FreshLinks, 'inEvents'>;
    wrap?: (database: RegionalDatabase) => Pick<RegionalDatabase, 'pool'>;
  } = {},
): RunningDispatcher {
  const database = openRegionalDatabase({ url, applicationName: DISPATCHER_NAME });
  const logged: LoggedLine[] = [];
  const log = {
    info: (facts: object, message: string) => void logged.push({ facts, message }),
    warn: (facts: object, message: string) => void logged.push({ facts, message }),
  };
  let notify: (channelId: string) => void = () => undefined;
  const bySpec = (listener: (channelId: string) => void): EventSignals => {
    notify = listener;
    return { isLive: () => true, close: async () => undefined };
  };
  const registry = new Registry();
  // Longer than any spec: what comes sooner was signalled, or had its time.
  const settings = { ...DELIVERY_DEFAULTS, sweepMs: 600_000, allowPrivateWebhooks: true, ...options.settings };
  const client = createWebhookClient(settings);
  const dispatcher = createDispatcher({
    database: options.wrap?.(database) ?? database,
    subscribe: options.subscribe ?? bySpec,
    links: options.links?.(database) ?? { inEvents: (_channelId, events) => Promise.resolve([...events]) },
    client,
    settings,
    registry,
    log,
  });
  dispatcher.start();
  return {
    dispatcher,
    logged,
    registry,
    signal: (channelId) => notify(channelId),
    stop: async () => {
      await dispatcher.stop();
      await client.close();
      await database.close();
    },
  };
}

// Sends events to webhook endpoints: at least once, several at a time, in no promised order, with retries that survive a
// restart. What an endpoint answers decides: 2xx is delivered, all else is tried again later. Nothing is sent while the
// simulator is away.
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import type { Delivery, WebhookEndpoint } from '../objects/records.js';
import type { World } from '../world/world.js';
import { signatureHeader } from './signature.js';

const AT_ONCE = 16;
const TIMEOUT_MS = 20_000;
const SHUFFLED_WITHIN_MS = 400;

export class Sender {
  private readonly waiting = new Set<string>();
  private readonly underWay = new Set<string>();
  private readonly stopping = new AbortController();
  private immediate: NodeJS.Immediate | undefined;
  private later: NodeJS.Timeout | undefined;

  constructor(
    private readonly world: World,
    private readonly random: () => number,
    private readonly log: (words: string, details: object) => void,
  ) {
    for (const delivery of world.store.deliveries.oldestFirst()) this.note(delivery);
    world.store.onCommit((records) => {
      for (const record of records) if (record.object === 'delivery') this.note(record);
      this.kick();
    });
  }

  /** Sends what is due, now or as soon as it is. */
  kick(): void {
    if (this.stopping.signal.aborted) return;
    this.immediate ??= setImmediate(() => {
      this.immediate = undefined;
      this.sendDue();
    });
  }

  /** Lets held deliveries go, oldest first or in random order; returns how many there were. */
  release(isShuffled: boolean): number {
    const held = this.world.store.deliveries.filter(({ state }) => state === 'held');
    if (isShuffled) shuffle(held, this.random);
    const now = this.world.options.wallMs();
    this.world.store.transact(() => {
      for (const { id } of held) this.world.store.deliveries.change(id, { state: 'waiting', nextAtMs: now });
    });
    return held.length;
  }

  /** How many deliveries wait for their time or are being made; those that are held do not count. */
  get pending(): number {
    return this.waiting.size;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearImmediate(this.immediate);
    clearTimeout(this.later);
    while (this.underWay.size > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Sends a payload to every endpoint once, whatever the rules are. Returns what they answered; 0 for no answer. */
  async sendOnce(event: object): Promise<number[]> {
    const payload = JSON.stringify(event, null, 2);
    const endpoints = [...this.world.store.webhookEndpoints.oldestFirst()].filter(({ status }) => status === 'enabled');
    return Promise.all(endpoints.map(async (endpoint) => (await this.post(endpoint, payload)) ?? 0));
  }

  private note({ id, state }: Delivery): void {
    if (state === 'waiting') this.waiting.add(id);
    else this.waiting.delete(id);
  }

  private sendDue(): void {
    if (this.stopping.signal.aborted || this.world.state.isAway) return;
    const now = this.world.options.wallMs();
    let soonest = Infinity;
    for (const id of this.waiting) {
      if (this.underWay.size >= AT_ONCE) return;
      const dueMs = this.world.store.deliveries.get(id)?.nextAtMs ?? now;
      if (this.underWay.has(id)) continue;
      if (dueMs > now) soonest = Math.min(soonest, dueMs);
      else void this.send(id);
    }
    clearTimeout(this.later);
    if (soonest < Infinity) this.later = setTimeout(() => this.sendDue(), soonest - now).unref();
  }

  private async send(id: string): Promise<void> {
    this.underWay.add(id);
    try {
      const { isDoubled, isShuffled } = this.world.state.webhooks;
      if (isShuffled) await this.pause(this.random() * SHUFFLED_WITHIN_MS);
      const copies = isDoubled ? [this.attempt(id), this.attempt(id)] : [this.attempt(id)];
      const statuses = await Promise.all(copies);
      this.settle(id, statuses.find(isAccepted) ?? statuses[0]);
    } finally {
      this.underWay.delete(id);
      this.kick();
    }
  }

  private async attempt(id: string): Promise<number | undefined> {
    const delivery = this.world.store.deliveries.get(id);
    const endpoint = delivery && this.world.store.webhookEndpoints.get(delivery.endpoint);
    const event = delivery && this.world.store.events.get(delivery.event);
    // The endpoint is no more: there is nobody to send to.
    if (!endpoint || !event) return 410;
    return this.post(endpoint, JSON.stringify(this.world.views.of(event), null, 2));
  }

  /** What the endpoint answered; undefined when it did not. */
  private async post(endpoint: WebhookEndpoint, payload: string): Promise<number | undefined> {
    const nowMs = this.world.options.wallMs();
    const secrets = endpoint.secrets
      .filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
      .map(({ secret }) => secret);
    try {
      const { statusCode, body } = await request(endpoint.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
          'stripe-signature': signatureHeader(payload, secrets, Math.floor(nowMs / 1000)),
        },
        body: payload,
        signal: AbortSignal.any([this.stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await body.dump();
      return statusCode;
    } catch (error) {
      this.log('webhook got no answer', { endpoint: endpoint.id, reason: String(error) });
      return undefined;
    }
  }

  private settle(id: string, status: number | undefined): void {
    const delivery = this.world.store.deliveries.get(id);
    if (!delivery || this.stopping.signal.aborted) return;
    const attempts = delivery.attempts + 1;
    const waitMs = this.world.state.webhooks.retryAfterMs[attempts - 1];
    const isOver =
      isAccepted(status) || waitMs === undefined || !this.world.store.webhookEndpoints.get(delivery.endpoint);
    this.world.store.transact(() => {
      this.world.store.deliveries.change(id, {
        ...{
          attempts,
          lastStatus: status ?? null,
          state: isAccepted(status) ? 'delivered' : isOver ? 'failed' : 'waiting',
        },
        nextAtMs: isOver ? null : this.world.options.wallMs() + waitMs,
      });
    });
  }

  private async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

function isAccepted(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function shuffle<T>(items: T[], random: () => number): void {
  for (let place = items.length - 1; place > 0; place -= 1) {
    const other = Math.floor(random() * (place + 1));
    const [one, two] = [items[place], items[other]];
    if (one !== undefined && two !== undefined) [items[place], items[other]] = [two, one];
  }
}

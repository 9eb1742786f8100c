import type { WebhookSecrets } from '@dormouse/channel-directory';
import type { Claim, Cursors, PendingEvent } from '@dormouse/event-outbox/delivery';
import type { FreshLinks } from '@dormouse/media-store/read';
import { inSpan } from '@dormouse/traces';
import type { FinalAnswer } from './attempt-record.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { HostSlots } from '../http/host-slots.js';
import type { Answer, WebhookClient } from '../http/webhook-client.js';
import { webhookRequests, type MakeRequest, type WebhookRequest } from '../http/webhook-request.js';
import type { WhileLeased } from './while-leased.js';
import type { Webhook } from './webhooks.js';

export interface PosterParts {
  cursors: Cursors;
  client: Pick<WebhookClient, 'post'>;
  hosts: HostSlots;
  secrets: Pick<WebhookSecrets, 'valid'>;
  /** Links to files as they work when the call is made: an event may have waited for days. */
  links: Pick<FreshLinks, 'inEvents'>;
  metrics: DeliveryMetrics;
  leased: WhileLeased;
  /** Part of the lease that must be left to start a post: its timeout and the recording of the outcome. */
  postNeedsMs: number;
  /** Monotonic clock in milliseconds. */
  now: () => number;
  /** Clock in epoch milliseconds, for signatures. */
  clock: () => number;
}

/** The outcome of one call, made or not. */
export type Posted =
  | { kind: 'answered'; answer: FinalAnswer; tookMs: number }
  /** No connection to the host was free in time: nothing was sent. */
  | { kind: 'full' }
  /** The lease is gone: nothing was sent. */
  | { kind: 'lost' }
  /** We stop. */
  | { kind: 'abandoned' };

/**
 * Makes one call for a claimed webhook: signed, in a slot of its host, and never with less of the lease left than the call
 * can take, so that two dispatchers do not post for one webhook at the same time.
 */
export class Poster {
  /** Of webhooks that have a secret, as they were read. */
  readonly #makers = new WeakMap<Webhook, MakeRequest>();

  constructor(private readonly parts: PosterParts) {}

  /** @param isRetry the event was tried before */
  async post(claim: Claim, webhook: Webhook, event: PendingEvent, isRetry: boolean): Promise<Posted> {
    const { clock, cursors, hosts, leased, links, metrics, now, postNeedsMs } = this.parts;
    const make = this.#makers.get(webhook) ?? (await this.makerFor(claim, webhook));
    const [current = event] = await leased.read(claim, () => links.inEvents(claim.channelId, [event]));
    const request = make(current, clock());
    const release = await hosts.acquire(request.origin, isRetry || claim.attempts > 0);
    if (!release) return { kind: 'full' };
    try {
      const isShort = (): boolean => claim.leaseEndsAtMs - now() < postNeedsMs;
      if (isShort() && (!(await leased.write(claim, () => cursors.renew(claim))) || isShort())) return { kind: 'lost' };
      const startedAtMs = now();
      const answer = await this.call(request);
      const tookMs = now() - startedAtMs;
      metrics.attempted(answer, tookMs);
      if (answer.kind === 'abandoned') return answer;
      if (answer.kind === 'accepted') metrics.delivered(event.ageMs, tookMs);
      return { kind: 'answered', answer, tookMs };
    } finally {
      release();
    }
  }

  /** The receiver can continue the trace. Its URL, which may hold secrets, is in no span. */
  private call(request: WebhookRequest): Promise<Answer> {
    const { method, url } = request;
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
    const facts = { 'http.request.method': method, 'server.address': url.hostname, 'server.port': port };
    return inSpan(method, { kind: 'client', facts }, async (span) => {
      const { traceparent } = span;
      const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
      const answer = await this.parts.client.post({ ...request, headers });
      if (answer.kind === 'accepted' || answer.kind === 'refused')
        span.add({ 'http.response.status_code': answer.status });
      if (answer.kind !== 'accepted') span.fail(answer.kind === 'refused' ? String(answer.status) : answer.kind);
      return answer;
    });
  }

  private async makerFor(claim: Claim, webhook: Webhook): Promise<MakeRequest> {
    const { leased, secrets } = this.parts;
    const firstSecret = async (): Promise<string[]> =>
      (await secrets.valid(claim.channelId)).map(({ secret }) => secret);
    const valid = webhook.secrets.length > 0 ? webhook.secrets : await leased.read(claim, firstSecret);
    const make = webhookRequests(claim.channelId, webhook.entry, valid);
    this.#makers.set(webhook, make);
    return make;
  }
}

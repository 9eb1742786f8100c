import type { PendingEvent } from '@dormouse/event-outbox/delivery';
import { eventForWebhook, webhookBody, type WebhookEntry } from '@dormouse/gateway-contract';
import { Webhook as Signer } from 'standardwebhooks';

/** One HTTP call to a customer's URL. */
export interface WebhookRequest {
  url: URL;
  /** Parts of the URL. */
  origin: string;
  path: string;
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers: Record<string, string>;
  body: string;
}

const METHODS = { post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

/** Headers that belong to the connection or to us; a customer's header of such a name is left out. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'webhook-id',
  'webhook-sequence',
  'webhook-signature',
  'webhook-timestamp',
]);

/** What a field value may hold on the wire: visible ASCII, blanks, and bytes above ASCII (RFC 9110, 5.5). */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Makes the call for an event. @param atMs epoch milliseconds of the attempt */
export type MakeRequest = (
  event: Pick<PendingEvent, 'seq' | 'id' | 'type' | 'method' | 'payload'>,
  atMs: number,
) => WebhookRequest;

/**
 * How calls that deliver events to a webhook are made. Mode body posts to the URL itself; path appends `/type/method`; method
 * appends `/type` and uses the event's method. The suffix goes on the path and the query stays. The body is the same in
 * every mode; `webhook-id` is the event's id and `webhook-sequence` its place among the channel's events, the same at
 * every attempt. `webhook-signature` is that of Standard Webhooks, one for each valid secret. What is the same for all
 * events is made once.
 *
 * @param secrets `whsec_…`, all that are valid
 */
export function webhookRequests(
  channelId: string,
  entry: Pick<WebhookEntry, 'url' | 'mode' | 'headers' | 'events'>,
  secrets: readonly string[],
): MakeRequest {
  const base = new URL(entry.url);
  base.hash = '';
  const headers = {
    'user-agent': 'Dormouse-Webhooks/1',
    ...credentialsOf(base),
    ...customHeaders(entry.headers ?? {}),
  };
  const signers = secrets.map((secret) => new Signer(secret));
  const address = addressesUnder(base);
  return (given, atMs) => {
    const event = eventForWebhook(entry, given);
    const body = JSON.stringify(webhookBody(channelId, event));
    const at = new Date(atMs);
    return {
      method: entry.mode === 'method' ? METHODS[event.method] : 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'webhook-id': event.id,
        'webhook-sequence': String(event.seq),
        'webhook-timestamp': String(Math.floor(atMs / 1_000)),
        'webhook-signature': signers.map((signer) => signer.sign(event.id, at, body)).join(' '),
      },
      body,
      ...address(suffixOf(entry.mode, event)),
    };
  };
}

function suffixOf(mode: WebhookEntry['mode'], { type, method }: Pick<PendingEvent, 'type' | 'method'>): string {
  if (mode === 'path') return `${type}/${method}`;
  return mode === 'method' ? type : '';
}

type Address = Pick<WebhookRequest, 'url' | 'origin' | 'path'>;

/** Addresses of a webhook, each made once: there are as many as kinds of events. */
function addressesUnder(base: URL): (suffix: string) => Address {
  const made = new Map<string, Address>();
  return (suffix) => {
    const known = made.get(suffix);
    if (known) return known;
    const url = new URL(base);
    if (suffix !== '') appendPath(url, suffix);
    const address = { url, origin: url.origin, path: url.pathname + url.search };
    made.set(suffix, address);
    return address;
  };
}

function appendPath(url: URL, suffix: string): void {
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${suffix}`;
}

/** `https://user:password@host` means Basic authentication; the HTTP client does not do it by itself. */
function credentialsOf(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeLoosely(url.username)}:${decodeLoosely(url.password)}`;
  url.username = '';
  url.password = '';
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a bare % was meant literally
  }
}

function customHeaders(headers: Record<string, string>): Record<string, string> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), wireValue(value)] as const);
  return Object.fromEntries(named.filter(([name, value]) => !OWN_HEADERS.has(name) && FIELD_VALUE.test(value)));
}

/** Text above ASCII travels as UTF-8, which the HTTP client wants as one character per byte. */
function wireValue(value: string): string {
  return Buffer.from(value.trim(), 'utf8').toString('latin1');
}

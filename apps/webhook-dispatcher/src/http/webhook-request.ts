import type { PendingEvent } from '@dormouse/event-outbox/delivery';
import { eventForWebhook, webhookBody, type WebhookEntry } from '@dormouse/gateway-contract';
import { Webhook as Signer } from 'standardwebhooks';

/** One HTTP call to a customer's URL. */
export interface WebhookRequest {
  url: URL;
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

/**
 * The call that delivers an event to a webhook. Mode body posts to the URL itself; path appends `/type/method`; method
 * appends `/type` and uses the event's method. The suffix goes on the path and the query stays. The body is the same in
 * every mode; `webhook-id` is the event's id and `webhook-sequence` its place among the channel's events, the same at
 * every attempt. `webhook-signature` is that of Standard Webhooks, one for each valid secret.
 *
 * @param secrets `whsec_…`, all that are valid
 * @param atMs epoch milliseconds of the attempt
 */
export function webhookRequest(
  channelId: string,
  entry: Pick<WebhookEntry, 'url' | 'mode' | 'headers' | 'events'>,
  given: Pick<PendingEvent, 'seq' | 'id' | 'type' | 'method' | 'payload'>,
  { secrets, atMs }: { secrets: readonly string[]; atMs: number },
): WebhookRequest {
  const event = eventForWebhook(entry, given);
  const url = new URL(entry.url);
  url.hash = '';
  if (entry.mode === 'path') appendPath(url, `${event.type}/${event.method}`);
  if (entry.mode === 'method') appendPath(url, event.type);
  const body = JSON.stringify(webhookBody(channelId, event));
  const at = new Date(atMs);
  return {
    method: entry.mode === 'method' ? METHODS[event.method] : 'POST',
    headers: {
      'user-agent': 'Dormouse-Webhooks/1',
      ...credentialsOf(url),
      ...customHeaders(entry.headers ?? {}),
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-sequence': String(event.seq),
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      'webhook-signature': secrets.map((secret) => new Signer(secret).sign(event.id, at, body)).join(' '),
    },
    body,
    url,
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

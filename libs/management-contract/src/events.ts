import { LATEST_EPOCH_S } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { wholeNumber } from './fields.js';

const epochS = z.int();
/** Position of an event among the channel's events, from 1; the same as in `webhook-sequence`. */
const sequence = z.int();

/** Body of POST /api/v1/channels/{id}/webhook-secret. */
export const rotateSecretBody = z.object({
  old_valid_for_s: z
    .int()
    .min(0)
    .max(86_400)
    .default(86_400)
    .describe('How long the secret before stays valid beside the new one; 0 ends it, and all older ones, at once.'),
});
export type RotateSecretBody = z.output<typeof rotateSecretBody>;

/** What the channel's webhooks are signed with, the present secret first; every call carries a signature for each. */
export const webhookSecrets = z.object({
  secrets: z.array(
    z.object({
      secret: z.string().describe('`whsec_` and base64, as Standard Webhooks libraries take it.'),
      created_at: epochS,
      expires_at: epochS.optional().describe('Absent for the present one.'),
    }),
  ),
});
export type WebhookSecretsShape = z.output<typeof webhookSecrets>;

export const webhookState = z.object({
  id: z.string().describe('Follows from the URL and the number of entries before it with the same one.'),
  url: z.string(),
  mode: z.enum(['body', 'path', 'method']),
  position: sequence.describe('Every event up to here was accepted, set aside, given up, or not subscribed to.'),
  backlog: z.object({
    events: z.int().describe('Exactly the events that it subscribes to and that were not delivered yet.'),
    oldest_age_s: z.number().describe('Seconds since the oldest of them was written; 0 when there is none.'),
  }),
  dead_letters: z.int(),
  held: z
    .int()
    .describe(
      'Of the backlog: events that were refused or that wait behind one of their conversation, while others go on.',
    ),
  set_aside: z
    .int()
    .describe(
      'Of the backlog: events that it kept refusing and that are tried by themselves, while their conversations go on.',
    ),
  redirects_to: z
    .string()
    .optional()
    .describe('The address that its first redirect named: redirects are not followed.'),
  failing: z
    .object({
      attempts: z.int().describe('Present while the last attempt failed.'),
      last_status: z.int().optional(),
      last_error: z.string(),
      next_attempt_at: epochS,
    })
    .optional(),
});
export type WebhookState = z.output<typeof webhookState>;

/** Answer of GET /api/v1/channels/{id}/webhooks, in the order of the settings. */
export const webhookList = z.object({ webhooks: z.array(webhookState) });
export type WebhookList = z.output<typeof webhookList>;

/** Query of the delivery log. */
export const deliveriesQuery = z.object({
  count: wholeNumber(1, 500, 100),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be what `next` of the previous page contains')
    .optional()
    .describe('`next` of the page before.'),
});
export type DeliveriesQuery = z.output<typeof deliveriesQuery>;

export const deliveryRecord = z.object({
  event_id: z.string(),
  sequence,
  type: z.string(),
  method: z.string(),
  attempt: z.int(),
  outcome: z
    .enum(['taken', 'failed', 'set_aside', 'dead', 'dropped'])
    .describe(
      "* `failed` is followed by another attempt, and the event's conversation waits for it; `set_aside` is followed by another attempt, and the conversation goes on; `dead` became a dead letter; `dropped` was not to be kept.",
    ),
  status: z
    .int()
    .optional()
    .describe(
      "The receiver's HTTP status; absent when it gave none. `error` is the reason then, or where a redirect leads.",
    ),
  error: z.string().optional(),
  latency_ms: z.int(),
  answer: z.string().optional().describe("The first kilobyte of the receiver's answer."),
  at_ms: z.int().describe('Epoch milliseconds at which the outcome was stored.'),
});
export type DeliveryRecord = z.output<typeof deliveryRecord>;

/** Newest first. */
export const deliveryList = z.object({
  deliveries: z.array(deliveryRecord),
  next: z.string().optional().describe('Present when there are older ones.'),
});
export type DeliveryList = z.output<typeof deliveryList>;

export const deadLettersQuery = z.object({
  count: wholeNumber(1, 500, 100),
  offset: wholeNumber(0, 999_999_999, 0),
});
export type DeadLettersQuery = z.output<typeof deadLettersQuery>;

export const deadLetter = z.object({
  event_id: z.string(),
  sequence,
  type: z.string(),
  method: z.string(),
  created_at: epochS,
  died_at: epochS,
  attempts: z.int().describe('Number of attempts for this event; 0 when it was given up together with another one.'),
  last_status: z.int().optional(),
  last_error: z.string().optional(),
  redriving: z.boolean().describe('It was redriven and is not delivered yet.'),
  body: z.record(z.string(), z.unknown()).describe('The body that the webhook would have received.'),
});
export type DeadLetterShape = z.output<typeof deadLetter>;

/** In sequence. */
export const deadLetterList = z.object({
  dead_letters: z.array(deadLetter),
  count: z.int(),
  total: z.int(),
  offset: z.int(),
});
export type DeadLetterList = z.output<typeof deadLetterList>;

/** Body of POST …/dead-letters/redrive. */
export const redriveBody = z.object({
  sequences: z
    .array(sequence.min(1))
    .min(1)
    .max(1_000)
    .optional()
    .describe('Sequences of the dead letters; absent: all.'),
});
export type RedriveBody = z.output<typeof redriveBody>;
export const redriveResult = z.object({
  redriving: z.int().describe('Number of events that wait to be delivered again.'),
});
export type RedriveResult = z.output<typeof redriveResult>;

/** Body of POST …/replay. */
export const replayBody = z.object({
  from: epochS
    .min(0, 'must be epoch seconds')
    .max(LATEST_EPOCH_S, 'must be epoch seconds')
    .describe('Epoch seconds: events since then are delivered again, with their ids and sequences.'),
});
export type ReplayBody = z.output<typeof replayBody>;
export const replayResult = z.object({
  events: z
    .int()
    .describe('Number of events, of the kinds that the webhook subscribes to, from the start of the replay to now.'),
  from_sequence: sequence.describe('Where it starts.'),
});
export type ReplayResult = z.output<typeof replayResult>;

/** Answer of POST …/test: the event that only this webhook receives, whatever it subscribes to. */
export const testEventResult = z.object({ event_id: z.string(), sequence });
export type TestEventResult = z.output<typeof testEventResult>;

/** Query of GET /api/v1/channels/{id}/events. */
export const eventsQuery = z.object({
  cursor: z
    .string()
    .regex(/^(\d{1,15}|latest)$/, 'must be what `cursor` of the previous page contains, or latest')
    .optional()
    .describe('`cursor` of the page before; `latest`: only new events; absent: from the oldest stored event.'),
  count: wholeNumber(1, 1_000, 100),
});
export type EventsQuery = z.output<typeof eventsQuery>;

/** An event as webhooks receive it, for clients that read events. */
export const pulledEvent = z.object({
  id: z.string().describe('The same as in `webhook-id`.'),
  sequence,
  created_at_ms: z.int().describe('Epoch milliseconds.'),
  body: z.record(z.string(), z.unknown()).describe('The body that a webhook would receive.'),
});
export type PulledEvent = z.output<typeof pulledEvent>;

/** In sequence. */
export const eventPage = z.object({
  events: z.array(pulledEvent),
  cursor: z.string().describe('For the next page.'),
  more: z.boolean().describe('There are more by now.'),
});
export type EventPage = z.output<typeof eventPage>;

import { type z } from 'zod';
import { accountRecord } from './account.js';
import {
  channelDeleted,
  channelList,
  channelRecord,
  channelSleep,
  channelWithToken,
  createChannelBody,
  listChannelsQuery,
} from './channels.js';
import {
  deadLetterList,
  deadLettersQuery,
  deliveriesQuery,
  deliveryList,
  eventPage,
  eventsQuery,
  redriveBody,
  redriveResult,
  replayBody,
  replayResult,
  rotateSecretBody,
  testEventResult,
  webhookList,
  webhookSecrets,
} from './events.js';
import { FLEET_OPERATIONS } from './fleet-operations.js';

/** Every path of the management API begins so. */
export const MANAGEMENT_PREFIX = '/api/v1';

export interface Operation {
  method: 'get' | 'post' | 'put' | 'delete';
  /** Below the prefix, with `{id}` for path parameters. */
  path: string;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** Status and shape of success. */
  status: 200 | 201;
  answer: z.ZodType;
  /** Taken down for good and not reached yet: 202 with the same shape. Ask for it again until it says so. */
  later?: true;
  /** Failures beyond 400, 401, 429 and 502. */
  failures: readonly (403 | 404 | 503)[];
  /** Needs an operator key; an account key gets 403. */
  for?: 'operators';
}

/** Every operation of the management API, by name. */
export const OPERATIONS = {
  getAccount: {
    method: 'get',
    path: '/account',
    summary: 'Whose account key this is',
    status: 200,
    answer: accountRecord,
    failures: [],
  },
  createChannel: {
    method: 'post',
    path: '/channels',
    summary: 'Create a channel; its token is shown in the answer and never again',
    body: createChannelBody,
    status: 201,
    answer: channelWithToken,
    failures: [403, 503],
  },
  listChannels: {
    method: 'get',
    path: '/channels',
    summary: 'List the channels of the account, newest first',
    query: listChannelsQuery,
    status: 200,
    answer: channelList,
    failures: [],
  },
  getChannel: {
    method: 'get',
    path: '/channels/{id}',
    summary: 'Get a channel with its present status',
    status: 200,
    answer: channelRecord,
    failures: [404],
  },
  deleteChannel: {
    method: 'delete',
    path: '/channels/{id}',
    summary: 'Delete a channel: its token dies, its number is unlinked, its session is forgotten',
    status: 200,
    answer: channelDeleted,
    failures: [404, 503],
  },
  rotateToken: {
    method: 'post',
    path: '/channels/{id}/token',
    summary: 'Replace the token; the old one stops working everywhere within 2 s',
    status: 200,
    answer: channelWithToken,
    failures: [404, 503],
  },
  setSleep: {
    method: 'post',
    path: '/channels/{id}/sleep',
    summary: 'Set when the number sleeps and how often it is woken; takes effect within a minute',
    body: channelSleep,
    status: 200,
    answer: channelRecord,
    failures: [404, 503],
  },
  getWebhookSecrets: {
    method: 'get',
    path: '/channels/{id}/webhook-secret',
    summary: 'Get the secrets that webhooks are signed with',
    status: 200,
    answer: webhookSecrets,
    failures: [404, 503],
  },
  rotateWebhookSecret: {
    method: 'post',
    path: '/channels/{id}/webhook-secret',
    summary: 'Make a new webhook secret; the old one stays valid for a day unless told otherwise',
    body: rotateSecretBody,
    status: 200,
    answer: webhookSecrets,
    failures: [404, 503],
  },
  listWebhooks: {
    method: 'get',
    path: '/channels/{id}/webhooks',
    summary: 'List the webhooks of a channel with backlog, dead letters and failures',
    status: 200,
    answer: webhookList,
    failures: [404, 503],
  },
  listDeliveries: {
    method: 'get',
    path: '/channels/{id}/webhooks/{webhook}/deliveries',
    summary: 'List the calls made to a webhook, newest first',
    query: deliveriesQuery,
    status: 200,
    answer: deliveryList,
    failures: [404, 503],
  },
  listDeadLetters: {
    method: 'get',
    path: '/channels/{id}/webhooks/{webhook}/dead-letters',
    summary: 'List the events a webhook did not take in 72 h',
    query: deadLettersQuery,
    status: 200,
    answer: deadLetterList,
    failures: [404, 503],
  },
  redriveDeadLetters: {
    method: 'post',
    path: '/channels/{id}/webhooks/{webhook}/dead-letters/redrive',
    summary: 'Tell dead letters once more: some, or all',
    body: redriveBody,
    status: 200,
    answer: redriveResult,
    failures: [404, 503],
  },
  replayEvents: {
    method: 'post',
    path: '/channels/{id}/webhooks/{webhook}/replay',
    summary: 'Tell a webhook again what happened since a time',
    body: replayBody,
    status: 200,
    answer: replayResult,
    failures: [404, 503],
  },
  sendTestEvent: {
    method: 'post',
    path: '/channels/{id}/webhooks/{webhook}/test',
    summary: 'Send a webhook a test event',
    status: 200,
    answer: testEventResult,
    failures: [404, 503],
  },
  listEvents: {
    method: 'get',
    path: '/channels/{id}/events',
    summary: 'Fetch events in sequence; with Accept: text/event-stream they are sent as they happen',
    query: eventsQuery,
    status: 200,
    answer: eventPage,
    failures: [404, 503],
  },
  ...FLEET_OPERATIONS,
} as const satisfies Record<string, Operation>;
export type OperationName = keyof typeof OPERATIONS;

import { type z } from 'zod';
import { accountRecord } from './account.js';
import {
  channelDeleted,
  channelList,
  channelRecord,
  channelWithToken,
  createChannelBody,
  listChannelsQuery,
} from './channels.js';

/** Every path of the management API begins so. */
export const MANAGEMENT_PREFIX = '/api/v1';

export interface Operation {
  method: 'get' | 'post' | 'delete';
  /** Below the prefix, with `{id}` for path parameters. */
  path: string;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodObject;
  /** Status and shape of success. */
  status: 200 | 201;
  answer: z.ZodType;
  /** Failures beyond 400, 401 and 502. */
  failures: readonly (404 | 503)[];
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
    failures: [503],
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
} as const satisfies Record<string, Operation>;
export type OperationName = keyof typeof OPERATIONS;

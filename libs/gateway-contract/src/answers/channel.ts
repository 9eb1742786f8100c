import { z } from 'zod';
import { PROXY_REASONS } from '../channel.js';
import { settingsSchema } from '../settings.js';
import { contactShape, page } from './chats-and-contacts.js';
import { mediaFile } from './message-content.js';

export const channelStatus = z.object({
  code: z.int(),
  text: z.string(),
  hibernated: z
    .literal(true)
    .optional()
    .describe('Only when true: asleep and healthy, wakes on the next request that needs the socket.'),
  reason: z
    .enum(PROXY_REASONS)
    .optional()
    .describe("Only when the channel's own settings are in the way: the session tries again by itself."),
});

export const health = z
  .object({
    channel_id: z.string(),
    start_at: z.int().describe('Epoch seconds since when the session is in its state.'),
    uptime: z.int().describe('Seconds since then.'),
    version: z.string(),
    device_id: z.int().optional(),
    ip: z.string().optional().describe('Address the session talks to the network from.'),
    status: channelStatus,
    user: contactShape.optional(),
  })
  .describe('Body of GET /health.');

export const success = z.object({ success: z.literal(true) });

export const mediaFileListed = z
  .object({ ...mediaFile.shape, timestamp: z.int() })
  .describe('A file of GET /media: when it was uploaded is always known.');

export const mediaFilesList = z.object({ ...page.shape, files: z.array(mediaFileListed) });

export const uploadMediaResult = z
  .object({ media: z.tuple([z.object({ id: z.string() })]), id: z.string() })
  .describe('Answer of POST /media; `id` repeats the only entry.');

export const settingsUpdateResult = z
  .object({
    before_update: settingsSchema,
    after_update: settingsSchema,
    changes: z.array(z.string()).describe('Names of the top-level fields whose value differs.'),
  })
  .describe('Answer of PATCH /settings.');

export const callEvent = z.object({
  id: z.string(),
  from: z.string().describe('Chat ids, not contact ids.'),
  chat_id: z.string(),
  status: z.enum(['initiated', 'ringing', 'missed', 'canceled', 'answered']),
  timestamp: z.int().describe('Epoch milliseconds.'),
  group_call: z.boolean().optional(),
  video_call: z.boolean().optional(),
  offline_call: z.boolean().optional(),
  latency: z.int().optional().describe('Milliseconds.'),
});

export const qrEvent = z
  .object({
    status: z.enum(['OK', 'TIMEOUT', 'WAITING', 'ERROR']),
    base64: z.string().optional().describe('The picture as data: URI.'),
    rowdata: z.string().optional().describe('The text encoded in the picture.'),
    expire: z.int().optional().describe('Seconds until the next code.'),
  })
  .describe('A new code to scan.');

export const serviceNotice = z
  .object({ code: z.int(), message: z.string(), details: z.string().optional() })
  .describe('A notice about billing.');

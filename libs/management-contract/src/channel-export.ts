import { z } from 'zod';
import { channelRecord } from './channels.js';

const rows = z.array(z.looseObject({}));

/** Answer of GET /api/v1/channels/{id}/export. */
export const channelExport = z.object({
  channel: channelRecord,
  settings: z.looseObject({}).describe("As the gateway's GET /settings."),
  contacts: rows.describe("As the gateway's GET /contacts."),
  chats: rows.describe("As the gateway's GET /chats, without last messages."),
  groups: rows.describe("As the gateway's GET /groups."),
  messages: rows.describe(
    "As the gateway's GET /messages/list, in the order in which they were sent; own ones with `statuses`, the steps of their status. Files are links that work for a day.",
  ),
});
export type ChannelExportAnswer = z.output<typeof channelExport>;

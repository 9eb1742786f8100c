import { z } from 'zod';
import { accountRecord, invitationRecord, keyRecord, memberRecord } from './account.js';
import { auditRecord } from './audit.js';
import { channelEntry } from './channels.js';

/** Answer of GET /api/v1/account/export: everything that is stored of an account, but messages, files, tokens and keys. */
export const accountExport = z.object({
  account: accountRecord,
  members: z.array(memberRecord),
  invitations: z.array(invitationRecord),
  keys: z.array(keyRecord),
  channels: z.array(
    channelEntry.extend({
      /** Digits of the linked number. */
      phone: z.string().optional(),
      /** As the gateway's GET /settings. */
      settings: z.looseObject({}).optional(),
      /** The region did not answer: phone and settings are missing. Request the export again later. */
      incomplete: z.literal(true).optional(),
    }),
  ),
  audit: z.array(auditRecord),
});
export type AccountExport = z.output<typeof accountExport>;

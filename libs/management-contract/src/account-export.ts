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
      phone: z.string().optional().describe('Digits of the linked number.'),
      settings: z.looseObject({}).optional().describe("As the gateway's GET /settings."),
      incomplete: z
        .literal(true)
        .optional()
        .describe('The region did not answer: phone and settings are missing. Request the export again later.'),
    }),
  ),
  audit: z.array(auditRecord),
});
export type AccountExport = z.output<typeof accountExport>;

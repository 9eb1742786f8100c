import { z } from 'zod';

/** What an export of a channel has lists of. */
export const EXPORT_KINDS = ['contacts', 'chats', 'groups', 'messages'] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

/** Which page of an export. */
export const exportPageInput = z.object({
  kind: z.enum(EXPORT_KINDS),
  /** `next` of the page before; '' for the first. */
  after: z.string(),
});

/** A message, chat, contact or group as customers see it. */
export type ExportRow = Record<string, unknown>;

export interface ExportPage {
  rows: ExportRow[];
  /** Where the next page begins; absent: this is the last. */
  next?: string;
}

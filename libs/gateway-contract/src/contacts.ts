import { z } from 'zod';
import { flag, text, writtenText } from './fields.js';
import { INDIVIDUAL_SUFFIX, readRecipient } from './ids.js';
import type { Page } from './queries.js';

/** Most numbers one call of POST /contacts can ask about. */
export const MAX_CHECKED_CONTACTS = 1_000;

/**
 * The form a contact id has in the store, for an id taken from a path or a body: digits, or `<digits>@lid` while the
 * number is unknown.
 * @returns undefined when it cannot name a contact
 */
export function normalizeContactId(id: string): string | undefined {
  const recipient = readRecipient(id);
  if (recipient?.kind === 'individual') return recipient.digits;
  return recipient?.kind === 'lid' ? id : undefined;
}

/** A contact id as customers write it; the parsed value is its form in the store. */
export const contactIdField = contactId('must be a contact id');

/** A member of a group as customers write it; the parsed value is a contact id. */
export const participantField = contactId(`must be phone digits or <digits>@${INDIVIDUAL_SUFFIX}`);

function contactId(reason: string) {
  return text.transform((id, context): string => {
    const contact = normalizeContactId(id);
    if (contact !== undefined) return contact;
    context.addIssue({ code: 'custom', message: reason });
    return z.NEVER;
  });
}

/**
 * The phone number in a text somebody typed: `+`, brackets, dashes, dots and blanks are dropped.
 * @returns 7 to 15 digits, or undefined when the text is no phone number: such an input is `invalid`, never an error
 */
export function readPhoneNumber(typed: string): string | undefined {
  if (typed.length > 64) return undefined;
  const digits = typed.replace(/@s\.whatsapp\.net$/, '').replace(/[+().\-\s]/g, '');
  return /^\d{7,15}$/.test(digits) ? digits : undefined;
}

/** Body of POST /contacts. Inputs stay as they are typed: the answer repeats them. */
export const checkContactsBody = z.object({
  contacts: z
    .array(writtenText)
    .min(1, 'must have at least 1 entry')
    .max(MAX_CHECKED_CONTACTS, `must have at most ${MAX_CHECKED_CONTACTS} entries`),
  /** Ask the network even about numbers that were checked lately. */
  force_check: flag.optional(),
});
export type CheckContactsBody = z.output<typeof checkContactsBody>;

/** What became of one input. */
export type CheckedContact =
  | { input: string; status: 'valid'; /** Contact id in the network's own form. */ wa_id: string }
  | { input: string; status: 'invalid' };

/** Answer of POST /contacts: one entry per input, in the order of the inputs. */
export interface CheckContactsResult {
  contacts: CheckedContact[];
}

/** A contact as customers see it: `id` is digits, or `<digits>@lid` while the number is unknown. */
export interface ContactShape {
  id: string;
  /** Name in the phone's address book, else the push name, else ''. */
  name: string;
  /** The name the contact shows to others. */
  pushname?: string;
  is_business?: boolean;
  /** URL of the small and of the whole picture. */
  profile_pic?: string;
  profile_pic_full?: string;
  /** The contact's about text. */
  status?: string;
  /** Stands in the phone's address book. */
  saved?: boolean;
}

export interface ContactsList extends Page {
  contacts: ContactShape[];
}

/** Path of commands about one contact. */
export const contactInput = z.object({ contactId: contactIdField });
export type ContactInput = z.output<typeof contactInput>;

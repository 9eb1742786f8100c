import { z } from 'zod';
import { flag, text, writtenText } from './fields.js';
import { INDIVIDUAL_SUFFIX, readRecipient } from './ids.js';
import type { Page } from './queries.js';

/** Most numbers that one call of POST /contacts can check. */
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

/** Longer texts are no phone numbers, whatever is in them. */
const MAX_TYPED_LENGTH = 256;
/** What people, contact cards and spreadsheets put between digits: signs, blanks, dashes, and invisible marks. */
const BETWEEN_DIGITS = /[+()[\].·•/\u2212]|\p{Z}|\p{Pd}|\p{Cf}|\p{Mn}|\s/gu;

/**
 * The phone number in a text as typed or pasted: in the digits of any script, as `tel:` URI (RFC 3966), with
 * `+` or `00` in front, with any of `BETWEEN_DIGITS` between digits.
 * @returns 7 to 15 digits, or undefined when the text is no phone number: such an input is `invalid`, never an error
 */
export function readPhoneNumber(typed: string): string | undefined {
  if (typed.length > MAX_TYPED_LENGTH) return undefined;
  // Compatibility forms first: full-width digits, brackets and plus signs become the usual ones.
  const plain = typed.normalize('NFKC').replace(BETWEEN_DIGITS, (mark) => (mark === '+' ? mark : ''));
  // Without its dots, `@s.whatsapp.net` reads so.
  const [, number = ''] = /^(?:tel:)?([^;@]*)(?:;.*|@swhatsappnet)?$/is.exec(plain) ?? [];
  const digits = number
    .replaceAll('+', '')
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(/^00/, '');
  return /^\d{7,15}$/.test(digits) ? digits : undefined;
}

/** Decimal digits of a script stand in tens, whose zero has a code point that ends in 0 or 6 (Unicode, section 4.6). */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  const ten = code - (code % 16);
  const zero = /\p{Nd}/u.test(String.fromCodePoint(ten)) ? ten : ten + 6;
  return String(code - zero);
}

/** Body of POST /contacts. Inputs stay as they are typed: the answer repeats them. */
export const checkContactsBody = z.object({
  contacts: z
    .array(writtenText)
    .min(1, 'must have at least 1 entry')
    .max(MAX_CHECKED_CONTACTS, `must have at most ${MAX_CHECKED_CONTACTS} entries`)
    .describe('Phone numbers as people type them.'),
  force_check: flag.optional().describe('Query the network even for numbers that were checked recently.'),
});
export type CheckContactsBody = z.output<typeof checkContactsBody>;

/** The result for one input. */
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

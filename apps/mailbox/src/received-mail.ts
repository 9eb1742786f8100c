/** A mail as it was received: how it was addressed on the wire, and what is in it. */
import { simpleParser, type AddressObject } from 'mailparser';

export interface ReceivedMail {
  /** 1 for the first mail; never used again. */
  readonly id: number;
  readonly receivedAt: string;
  /** Sender and recipients of the SMTP dialogue, which alone decide whom a mail reaches. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  /** Headers as people see them. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  readonly text: string;
  /** Empty: the mail has no HTML part. */
  readonly html: string;
  /** Addresses of links in the text part, or in the HTML if there is no text. */
  readonly links: readonly string[];
  /** Everything as it came. */
  readonly source: string;
}

const LINK = /https?:\/\/[^\s<>"']+/g;
/** What ends a sentence rather than an address. */
const TRAILING = /[.,;:!?)]+$/;

/** @throws when the source is no mail */
export async function readMail(
  source: Buffer,
  facts: Pick<ReceivedMail, 'receivedAt' | 'envelope'>,
): Promise<Omit<ReceivedMail, 'id'>> {
  const parsed = await simpleParser(source, { skipTextToHtml: true, skipImageLinks: true });
  const html = parsed.html || '';
  const text = parsed.text ?? '';
  const hasText = text.trim() !== '';
  return {
    ...facts,
    from: textOf(parsed.from),
    to: textOf(parsed.to),
    subject: parsed.subject ?? '',
    messageId: parsed.messageId ?? '',
    text,
    html,
    links: [...new Set([...(hasText ? text : html).matchAll(LINK)].map(([link]) => link.replace(TRAILING, '')))],
    source: source.toString('utf8'),
  };
}

function textOf(addresses: AddressObject | AddressObject[] | undefined): string {
  return [addresses ?? []]
    .flat()
    .map(({ text }) => text)
    .join(', ');
}

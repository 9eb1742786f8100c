/**
 * What every mail is made of, and its two forms. Both have the same text; the HTML loads nothing, and every text in it is escaped.
 *
 * Names that others chose (of accounts, users, channels, browsers) are in mails to people who may not know them. So that nobody sends
 * a message of their own through us, they are cut short and are no links: see {@link named}.
 */

/** A mail in parts. */
export interface MailParts {
  readonly subject: string;
  /** What happened and what to do, in order. */
  readonly paragraphs: readonly string[];
  /** The one thing to do, as a button and as an address. */
  readonly action?: { readonly label: string; readonly link: string } | undefined;
  /** Below it, smaller. */
  readonly notes?: readonly string[];
}

/** A mail as it is sent. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const LONGEST_NAME = 60;
/** Line breaks, other control characters, and those that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const SCHEME = /\b[a-z][a-z0-9+.-]*:\/\//giu;
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A name that somebody chose, on one line and without an address that a mail program would make a link of. */
export function named(name: string): string {
  const clean = name
    .replace(UNPRINTABLE, ' ')
    .replace(SCHEME, '')
    .replace(/\bwww\./gi, '')
    .trim();
  return clean.length > LONGEST_NAME ? `${clean.slice(0, LONGEST_NAME - 1)}…` : clean;
}

/** Such as "1 March 2026 at 10:00 UTC". @param iso ISO 8601 */
export function moment(iso: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(new Date(iso))} UTC`;
}

/** "1 number", "2 numbers". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/**
 * The mail of these parts.
 * @param sender name that it is signed with
 * @throws when its link is no http or https address
 */
export function mailOf(parts: MailParts, sender: string): MailContent {
  const { paragraphs, action, notes = [] } = parts;
  const link = action && webAddress(action.link);
  const text = [
    ...paragraphs,
    ...(action && link !== undefined ? [`${action.label}:\n${link}`] : []),
    ...notes,
    `-- \n${sender}`,
  ].join('\n\n');
  return { subject: parts.subject.replace(UNPRINTABLE, ' '), text: `${text}\n`, html: htmlOf(parts, link, sender) };
}

function htmlOf(
  { subject, paragraphs, action, notes = [] }: MailParts,
  link: string | undefined,
  sender: string,
): string {
  const button =
    action && link !== undefined
      ? `<p style="margin:24px 0"><a href="${escaped(link)}" style="background:#1f6f4a;border-radius:6px;color:#ffffff;display:inline-block;padding:12px 20px;text-decoration:none">${escaped(action.label)}</a></p>
<p style="color:#555555;font-size:14px">Or copy this address into a browser:<br>${escaped(link)}</p>`
      : '';
  const paragraph = (style: string) => (text: string) => `<p style="${style}">${escaped(text)}</p>`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="background:#ffffff;color:#222222;font-family:sans-serif;font-size:16px;line-height:1.5;margin:0;padding:24px">
<div style="margin:0 auto;max-width:560px">
${paragraphs.map(paragraph('margin:0 0 16px')).join('\n')}
${button}
${notes.map(paragraph('color:#555555;font-size:14px')).join('\n')}
<p style="color:#555555;font-size:14px">${escaped(sender)}</p>
</div>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

function webAddress(link: string): string {
  const { protocol, href } = new URL(link);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error(`a link of a mail has the scheme ${protocol}`);
  return href;
}

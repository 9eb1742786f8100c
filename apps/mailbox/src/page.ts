/** The page: the list of mails, and one mail. Everything that came by mail is escaped; its HTML is shown in a sandbox of its own. */
import type { ReceivedMail } from './received-mail.js';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** No script but ours, no request to anywhere else. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'";
/** A mail's HTML runs nothing, loads nothing and is of no origin; its links open in another window. */
export const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; overflow-wrap: anywhere; background: light-dark(#fff, #16181d); color: light-dark(#1a1f36, #e8eaed); }
a { color: light-dark(#3d37b0, #b3b0ff); }
:focus-visible { outline: 3px solid light-dark(#1f6feb, #8ab4f8); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
pre { white-space: pre-wrap; border: 1px solid #8886; padding: .8rem; }
iframe { width: 100%; height: 32rem; box-sizing: border-box; border: 1px solid #8886; background: #fff; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; }
@media (max-width: 40rem) { dl { display: block; } dd { margin: 0 0 .4rem; } th, td { padding: .3rem .4rem .3rem 0; } }`;

function page(title: string, body: string, script = ''): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${STYLE}</style>${script}</head>
<body>${body}</body>
</html>
`;
}

/** @param mails oldest first */
export function listPage(mails: readonly ReceivedMail[], smtpUrl: string): string {
  const rows = mails
    .toReversed()
    .map(
      ({ id, envelope, subject, receivedAt }) =>
        `<tr><td><a href="/view/${id}">${escaped(subject) || '(no subject)'}</a></td>` +
        `<td>${escaped(envelope.to.join(', '))}</td><td><time>${escaped(receivedAt)}</time></td></tr>`,
    )
    .join('\n');
  const table =
    mails.length === 0
      ? `<p>No mail yet.</p>`
      : `<table><thead><tr><th scope="col">Subject</th><th scope="col">To</th><th scope="col">Received</th></tr></thead>
<tbody>${rows}</tbody></table>`;
  const newest = mails.at(-1)?.id ?? 0;
  return page(
    'Mailbox',
    `<main><h1>Mailbox</h1><p>Mail sent to ${escaped(smtpUrl)} stays here. This page shows new mail by itself.</p>${table}</main>`,
    `<script src="/page.js" data-newest="${newest}" defer></script>`,
  );
}

export function mailPage(mail: ReceivedMail): string {
  const facts: [string, string][] = [
    ['From', mail.from],
    ['To', mail.to],
    ['Reached', mail.envelope.to.join(', ')],
    ['Received', mail.receivedAt],
    ['Message-ID', mail.messageId],
  ];
  const list = facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('');
  const html =
    mail.html === ''
      ? ''
      : `<h2>HTML</h2><iframe title="HTML of the mail" src="/mails/${mail.id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`;
  return page(
    mail.subject || '(no subject)',
    `<p><a href="/">All mail</a></p><main><h1>${escaped(mail.subject) || '(no subject)'}</h1><dl>${list}</dl>
<h2>Text</h2><pre>${escaped(mail.text)}</pre>${html}
<p><a href="/mails/${mail.id}/source">Source</a></p></main>`,
  );
}

/** The HTML of a mail, whose links leave its frame. */
export function mailHtml({ html }: ReceivedMail): string {
  return `<base target="_blank">${html}`;
}

/** Waits for mail that is newer than the page and shows it. */
export const PAGE_SCRIPT = `
const newest = document.currentScript.dataset.newest;
async function watch() {
  for (;;) {
    try {
      const answer = await fetch('/mails/next?timeoutMs=25000&after=' + newest);
      if (answer.status === 200) return location.reload();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}
void watch();
`;

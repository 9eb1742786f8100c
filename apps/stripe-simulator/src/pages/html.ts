// Pages are made on the server, work without scripts, and escape all that comes from outside.

/** Markup that is safe to put into a page. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | null | undefined | false | readonly Html[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Markup with its parts filled in: strings are escaped, markup and lists of it are taken as they are. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const text = strings.map((string, index) => string + (index < parts.length ? render(parts[index]) : ''));
  return new Html(text.join(''));
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

export const STYLES = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f6f8fa, #16181d); color: light-dark(#1a1f36, #e8eaed); }
main { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
section, form { background: light-dark(#fff, #20242c); border: 1px solid light-dark(#d8dee4, #3c4250); border-radius: 8px; padding: 1rem; margin: 0 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 0; }
table { width: 100%; border-collapse: collapse; } th, td { text-align: left; padding: 0.3rem 0.5rem 0.3rem 0; vertical-align: top; }
fieldset { border: 0; padding: 0; margin: 0 0 1rem; } legend { font-weight: 600; padding: 0; }
label { display: block; margin: 0.3rem 0; } input[type=text], input[type=email], input[type=number] { display: block; width: 100%; box-sizing: border-box; padding: 0.5rem; font: inherit; }
button { font: inherit; font-weight: 600; padding: 0.6rem 1rem; border: 0; border-radius: 6px; background: #4b45c6; color: #fff; cursor: pointer; }
button.quiet { background: transparent; color: inherit; border: 1px solid currentColor; }
:focus-visible { outline: 3px solid light-dark(#1f6feb, #8ab4f8); outline-offset: 2px; }
[role=alert] { border-left: 4px solid #c5221f; padding: 0.6rem 1rem; background: light-dark(#fce8e6, #3c1f1e); }
[role=status] { border-left: 4px solid #188038; padding: 0.6rem 1rem; background: light-dark(#e6f4ea, #16301f); }
a { color: light-dark(#3d37b0, #b3b0ff); } .amount { font-size: 2rem; font-weight: 700; }
`;

/** A whole page. */
export function page(title: string, content: Html): string {
  const whole = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="stylesheet" href="/_simulator/pages.css" />
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
          <p><small>Simulated Stripe: no money moves here.</small></p>
        </main>
      </body>
    </html>`;
  return whole.text;
}

/** Cents as people read them. */
export function money(cents: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency: currency.toUpperCase() }).format(cents / 100);
}

/** Seconds since 1970 as a date. */
export function date(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

/**
 * The few pages that links in mails lead to, as HTML: no script, nothing is loaded, text and contrasts for light and dark.
 */
import { createHash } from 'node:crypto';

const STYLE = `:root{color-scheme:light dark;--text:#1b1b1f;--ground:#ffffff;--soft:#55555e;--accent:#1f5f41;--on-accent:#ffffff;--bad:#a3162a}
@media (prefers-color-scheme:dark){:root{--text:#ececf1;--ground:#17171b;--soft:#b4b4bf;--accent:#8ad7b0;--on-accent:#10231a;--bad:#ff9aa8}}
body{background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif;margin:0}
main{margin:12vh auto 4rem;max-width:26rem;padding:0 1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{background:var(--ground);border:1px solid var(--soft);border-radius:6px;box-sizing:border-box;color:var(--text);font:inherit;padding:.6rem;width:100%}
button{background:var(--accent);border:0;border-radius:6px;color:var(--on-accent);cursor:pointer;font:inherit;font-weight:600;margin-top:1.25rem;padding:.65rem 1.1rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.hint{color:var(--soft);margin:.25rem 0 0}.bad{color:var(--bad)}`;

/** Headers of every page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface PageField {
  name: string;
  label: string;
  type: 'text' | 'email' | 'password';
  /** For password managers. */
  autocomplete: string;
  hint?: string;
}

export interface PageForm {
  /** The path that it is sent to. */
  action: string;
  token: string;
  fields: readonly PageField[];
  button: string;
}

export interface Page {
  title: string;
  /** Paragraphs. */
  text: readonly string[];
  /** What was wrong with what was sent. */
  fault?: string;
  form?: PageForm;
}

export function renderPage({ title, text, fault, form }: Page): string {
  const paragraphs = text.map((paragraph) => `<p>${escaped(paragraph)}</p>`);
  const alert = fault === undefined ? '' : `<p class="bad" role="alert">${escaped(fault)}</p>`;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)} – Dormouse</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(title)}</h1>${paragraphs.join('')}${alert}${form ? renderForm(form) : ''}</main></body>
</html>
`;
}

function renderForm({ action, token, fields, button }: PageForm): string {
  return `<form method="post" action="${escaped(action)}"><input type="hidden" name="token" value="${escaped(token)}">${fields
    .map(renderField)
    .join('')}<button type="submit">${escaped(button)}</button></form>`;
}

function renderField({ name, label, type, autocomplete, hint }: PageField): string {
  const described = hint === undefined ? '' : ` aria-describedby="${name}-hint"`;
  return `<label for="${name}">${escaped(label)}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${described}>${
    hint === undefined ? '' : `<p class="hint" id="${name}-hint">${escaped(hint)}</p>`
  }`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

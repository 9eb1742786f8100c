import { Marked, type Tokens } from 'marked';
import { codeHtml } from './code-html.js';
import { DOCS_PREFIX } from './index.js';
import { escaped, plainText, slugOf } from './html.js';

export interface Heading {
  depth: number;
  id: string;
  text: string;
}

export interface RenderedText {
  html: string;
  headings: Heading[];
}

const ANCHOR = /\s*\{#([\w-]+)\}\s*$/;

/**
 * Markdown as HTML. A heading has the id that it names itself, `{#name}`, or one made of its words. Links to other Markdown
 * files lead to their pages. A fenced block names its language and what the tests do with it (`sh run`).
 * @throws when two headings have one id, or a language is unknown
 */
export function renderMarkdown(source: string): RenderedText {
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const html = this.parser.parseInline(tokens).replace(ANCHOR, '');
        const heading = { depth, id: ANCHOR.exec(text)?.[1] ?? slugOf(plainText(html)), text: plainText(html) };
        if (headings.some(({ id }) => id === heading.id)) throw new Error(`two headings have the id ${heading.id}`);
        headings.push(heading);
        return headingHtml(heading, html);
      },
      code({ text, lang = 'text' }: Tokens.Code) {
        const [language = 'text', ...words] = lang.split(/\s+/);
        const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
        if (words.includes('expect')) return codeHtml(JSON.stringify(JSON.parse(text), null, 2), language, 'Answer');
        return codeHtml(text, language, file);
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escaped(addressOf(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
        return tableHtml(cells(token.header, 'th'), body);
      },
    },
  });
  return { html: marked.parse(source, { async: false }), headings };
}

/** A heading with a link to itself. The first one of a page has none. */
export function headingHtml({ depth, id, text }: Heading, html = escaped(text)): string {
  if (depth === 1) return `<h1 id="${id}">${html}</h1>\n`;
  return `<h${depth} id="${id}">${html} <a class="anchor" href="#${id}" aria-label="Link to ${escaped(text)}">#</a></h${depth}>\n`;
}

/** A table that scrolls by itself where it is too wide. */
export function tableHtml(headRow: string, bodyRows: string): string {
  const scoped = headRow.replaceAll('<th>', '<th scope="col">');
  return `<div class="table" tabindex="0"><table><thead><tr>${scoped}</tr></thead><tbody>${bodyRows}</tbody></table></div>\n`;
}

/** Links between Markdown files as addresses of pages. */
function addressOf(href: string): string {
  const [, name, anchor = ''] = /^([\w/-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name === undefined) return href;
  return name === 'home' ? `${DOCS_PREFIX}${anchor}` : `${DOCS_PREFIX}/${name}${anchor}`;
}

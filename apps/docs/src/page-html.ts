import type { PageEntry, Section } from './contents.js';
import { DOCS_PREFIX } from './index.js';
import { escaped } from './html.js';
import type { Heading } from './markdown.js';

/** Names of the files that pages load, with the hashes of their content in them. */
export interface AssetNames {
  style: string;
  theme: string;
  script: string;
  search: string;
}

export interface PageParts {
  entry: PageEntry;
  /** Of the article. */
  html: string;
  headings: readonly Heading[];
}

export interface SiteFrame {
  home: PageEntry;
  sections: readonly Section[];
  assets: AssetNames;
}

const addressOf = ({ slug }: PageEntry): string => (slug === '' ? DOCS_PREFIX : `${DOCS_PREFIX}/${slug}`);

/** A whole page: header with search, list of pages, article, contents of the page, the pages before and after. */
export function renderPage({ entry, html, headings }: PageParts, frame: SiteFrame): string {
  const { assets, sections } = frame;
  const title = entry === frame.home ? 'Dormouse documentation' : `${entry.title} – Dormouse documentation`;
  const asset = (name: string) => `${DOCS_PREFIX}/${name}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="${asset('assets/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${asset(assets.style)}">
<script src="${asset(assets.theme)}"></script>
<script type="module" src="${asset(assets.script)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="${DOCS_PREFIX}">Dormouse <span>docs</span></a>
<div class="search" role="search" data-index="${asset(assets.search)}" hidden>
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<ul id="results" role="listbox" aria-label="Search results" hidden></ul>
<p id="result-count" class="unseen" role="status"></p>
</div>
<button id="theme" type="button" hidden>Dark</button>
</header>
<div class="frame">
<nav class="pages" aria-label="Pages">
<details class="menu"><summary>All pages</summary>${listOfPages(entry, sections)}</details>
<div class="wide">${listOfPages(entry, sections)}</div>
</nav>
<main id="content" tabindex="-1">
<article>${html}</article>
${neighbours(entry, frame)}
</main>
${contentsOf(headings)}
</div>
</body>
</html>
`;
}

function listOfPages(current: PageEntry, sections: readonly Section[]): string {
  return sections
    .map(({ title, pages }) => `<p class="group">${escaped(title)}</p>${listHtml(current, pages)}`)
    .join('');
}

function listHtml(current: PageEntry, pages: readonly PageEntry[]): string {
  const items = pages.map((page) => {
    const isWithin = page.children?.some(({ slug }) => slug === current.slug) === true;
    const isOpen = page.slug === current.slug;
    const mark = isOpen ? ' aria-current="page"' : '';
    const children = page.children && (isOpen || isWithin) ? listHtml(current, page.children) : '';
    return `<li><a href="${addressOf(page)}"${mark}>${escaped(page.title)}</a>${children}</li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}

function contentsOf(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return '';
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page"><p class="group">On this page</p><ul>${items.join('')}</ul></nav>`;
}

function neighbours(entry: PageEntry, { home, sections }: SiteFrame): string {
  const listed = sections.flatMap(({ pages }) => pages);
  const all = [home, ...listed.flatMap((page) => [page, ...(page.children ?? [])])];
  const at = all.findIndex(({ slug }) => slug === entry.slug);
  if (at === -1) return '';
  const before = all[at - 1];
  const after = all[at + 1];
  const link = (page: PageEntry | undefined, word: string) =>
    page ? `<a href="${addressOf(page)}"><span>${word}</span> ${escaped(page.title)}</a>` : '<span></span>';
  return `<nav class="neighbours" aria-label="Pages before and after">${link(before, 'Back')}${link(after, 'Next')}</nav>`;
}

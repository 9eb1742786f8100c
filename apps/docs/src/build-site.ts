import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { SearchEntry } from './client/search.js';
import { ERRORS, HOME, SECTIONS, type PageEntry, type Section } from './contents.js';
import { ASSETS, DOCS_PREFIX } from './index.js';
import { renderMarkdown } from './markdown.js';
import { renderPage, type AssetNames, type PageParts } from './page-html.js';
import { plainText } from './html.js';
import { DOCUMENT_TEXTS, referencePages } from './reference/reference-pages.js';
import { tracePicture } from './trace-picture.js';

const PROJECT_FOLDER = fileURLToPath(new URL('../', import.meta.url));
const compressed = promisify(brotliCompress);
/** A tenth larger than the best, in a fraction of the time. */
const QUALITY = 8;
const NOT_FOUND: PageParts = {
  entry: { slug: '404', title: 'No such page' },
  html: `<h1>No such page</h1><p>The address is wrong, or the page has moved. The list of pages and the search lead on.</p>`,
  headings: [],
};

/**
 * Makes the whole site: pages, files that they load under names that change with their content, and the index of the search.
 * @param folder is emptied first
 * @throws when a page has no text, or a text cannot be rendered
 */
export async function buildSite(folder: string): Promise<void> {
  const guides = await Promise.all([HOME, ...SECTIONS.flatMap(({ pages }) => pages), ERRORS].map(readPage));
  const reference = referencePages();
  const written = [...guides, ...reference.pages];
  const sections: Section[] = [...SECTIONS, { title: 'Reference', pages: [...reference.entries, ERRORS] }];
  await rm(folder, { recursive: true, force: true });
  const assets = await writeAssets(folder, written);
  const frame = { home: HOME, sections, assets };
  for (const page of [...written, NOT_FOUND]) {
    await write(join(folder, `${page.entry.slug || 'index'}.html`), renderPage(page, frame));
  }
  for (const [name, text] of Object.entries(DOCUMENT_TEXTS)) await write(join(folder, `openapi/${name}.json`), text);
}

async function readPage(entry: PageEntry): Promise<PageParts> {
  const file = join(PROJECT_FOLDER, entry.source ?? '');
  return { entry, ...renderMarkdown(await withPictures(await readFile(file, 'utf8'), dirname(file))) };
}

/** Draws the recorded trace that an image of a text names. */
async function withPictures(source: string, folder: string): Promise<string> {
  const [image, title = '', name] = /^!\[([^\]]+)\]\(([\w-]+\.trace\.json)\)$/m.exec(source) ?? [];
  if (image === undefined || name === undefined) return source;
  const picture = tracePicture(await readFile(join(folder, name), 'utf8'), title);
  return source.replace(image, () => picture);
}

async function writeAssets(folder: string, pages: readonly PageParts[]): Promise<AssetNames> {
  const read = async (path: string) =>
    (await readFile(join(PROJECT_FOLDER, path), 'utf8')).replace(/^\/\/# sourceMappingURL=.*$/m, '');
  const asset = async (name: string, content: string): Promise<string> => {
    const [stem, ending] = name.split('.');
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
    const path = `${ASSETS}/${stem}.${hash}.${ending}`;
    await write(join(folder, path), content);
    return path;
  };
  const search = await asset('search.js', await read('dist/client/search.js'));
  const site = (await read('dist/client/site.js')).replace('./search.js', `./${search.slice(ASSETS.length + 1)}`);
  await write(join(folder, ASSETS, 'icon.svg'), await read('assets/icon.svg'));
  return {
    style: await asset('site.css', await read('assets/site.css')),
    // A classic script: modules run after the first paint.
    theme: await asset('theme.js', (await read('dist/client/theme.js')).replace(/^export \{\};$/m, '')),
    script: await asset('site.js', site),
    search: await asset('search.json', JSON.stringify(pages.flatMap(searchEntries))),
  };
}

/** A page and its headings, each with the words of the text below it. */
function searchEntries({ entry, html, headings }: PageParts): SearchEntry[] {
  const address = entry.slug === '' ? DOCS_PREFIX : `${DOCS_PREFIX}/${entry.slug}`;
  const parts = html.split(/(?=<h[1-4] id=")/);
  return headings.map(({ depth, id, text }) => {
    const part = parts.find((one) => one.startsWith(`<h${depth} id="${id}"`)) ?? '';
    const words = [
      ...new Set(
        plainText(part)
          .toLowerCase()
          .split(/[^\p{L}\p{N}_/{}.-]+/u),
      ),
    ].join(' ');
    return { title: text, page: entry.title, address: depth === 1 ? address : `${address}#${id}`, words };
  });
}

/** Beside each file is the same compressed, which a server that knows of it sends. */
async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const bytes = Buffer.from(content);
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  await Promise.all([writeFile(path, bytes), writeFile(`${path}.br`, await compressed(bytes, { params }))]);
}

/**
 * Previews of the pages that links in texts lead to.
 *
 * A preview is optional: if anything goes wrong (no answer in time, an address that is not public, no HTML, a page or
 * picture that is too large), the text is sent without it. Pages are fetched from public addresses only, redirects
 * included. The result, also "no preview", is cached for some minutes, because the same link is often sent to many.
 */
import type { Downloader } from '@dormouse/media-files';
import { Parser } from 'htmlparser2';
import { LRUCache } from 'lru-cache';
import type { LinkPreview } from '../../convert/plain-to-network.js';
import type { Images, LinkPicture } from '../../media/images.js';
import { pageText, shortened } from './page-text.js';

/** Timeout of page and picture together: a send waits no longer for its preview. */
const TIMEOUT_MS = 3_000;
/** Titles and addresses of pictures are at the beginning of a page. */
const PAGE_BYTES = 512 * 1024;
const PICTURE_BYTES = 2 * 1024 * 1024;
const MAX_CACHED = 500;
const CACHED_FOR_MS = 5 * 60_000;
const TITLE_LENGTH = 300;
const DESCRIPTION_LENGTH = 600;

export interface PagePreview extends Omit<LinkPreview, 'url'> {
  picture?: Buffer | undefined;
  /** Where the page's own picture is. */
  pictureAddress?: string | undefined;
}

export class LinkPreviews {
  readonly #cached: LRUCache<string, Promise<PagePreview | undefined>>;

  constructor(
    private readonly downloader: Pick<Downloader, 'open'>,
    private readonly images: Pick<Images, 'thumbnailOf' | 'linkPictureOf'>,
    now: () => number = Date.now,
  ) {
    this.#cached = new LRUCache({ max: MAX_CACHED, ttl: CACHED_FOR_MS, ttlResolution: 0, perf: { now } });
  }

  /**
   * What to show of the page; undefined when there is nothing to show. Never rejects.
   * @param owner the channel it is for
   */
  of(url: string, owner: string): Promise<PagePreview | undefined> {
    const known = this.#cached.get(url);
    if (known) return known;
    const preview = this.fetch(url, owner);
    this.#cached.set(url, preview);
    return preview;
  }

  private async fetch(url: string, owner: string): Promise<PagePreview | undefined> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const { bytes, type } = await this.read(new URL(url), PAGE_BYTES, signal, /^text\/html|^application\/xhtml/i);
      const page = readPage(pageText(bytes, type));
      if (page.title === '') return undefined;
      const picture = await this.picture(page.picture, url, { owner, signal });
      const { title, description } = page;
      return { title, ...(description !== '' && { description }), ...picture };
    } catch {
      return undefined;
    }
  }

  /** The page's picture, large; undefined when it cannot be fetched in time. Never rejects. */
  async widePicture({ pictureAddress }: PagePreview, owner: string): Promise<LinkPicture | undefined> {
    if (pictureAddress === undefined) return undefined;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const { bytes } = await this.read(new URL(pictureAddress), PICTURE_BYTES, signal, /^image\//i);
      return await this.images.linkPictureOf(bytes, { owner, signal });
    } catch {
      return undefined;
    }
  }

  private async picture(
    address: string,
    page: string,
    { owner, signal }: { owner: string; signal: AbortSignal },
  ): Promise<Pick<PagePreview, 'picture' | 'pictureAddress'>> {
    if (address === '' || !URL.canParse(address, page)) return {};
    try {
      const url = new URL(address, page);
      const { bytes } = await this.read(url, PICTURE_BYTES, signal, /^image\//i);
      const { thumbnail } = await this.images.thumbnailOf(bytes, { owner, signal });
      return { picture: Buffer.from(thumbnail, 'base64'), pictureAddress: url.href };
    } catch {
      return {};
    }
  }

  /** The first `maxBytes` of an answer, and none of one of another type. A picture that was cut off fails to decode. */
  private async read(url: URL, maxBytes: number, signal: AbortSignal, accepted: RegExp) {
    const { stream, claimedType: type = '' } = await this.downloader.open(url, 'body', signal);
    stream.on('error', () => undefined); // destroying an unfinished answer emits an error
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      if (!accepted.test(type)) return { bytes: Buffer.alloc(0), type };
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        signal.throwIfAborted();
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= maxBytes) break;
      }
      return { bytes: Buffer.concat(chunks), type };
    } finally {
      stream.destroy();
    }
  }
}

/** Title, description and address of the picture: from Open Graph, else from the page's own title. */
function readPage(html: string): { title: string; description: string; picture: string } {
  const meta = new Map<string, string>();
  let title = '';
  let inTitle = false;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      inTitle = name === 'title' && title === '';
      const property = (attributes['property'] ?? attributes['name'])?.toLowerCase();
      const content = attributes['content']?.trim();
      if (name === 'meta' && property && content && !meta.has(property)) meta.set(property, content);
    },
    ontext: (text) => {
      if (inTitle) title += text;
    },
    onclosetag: () => {
      inTitle = false;
    },
  });
  parser.write(html);
  parser.end();
  const first = (...names: string[]) => names.map((name) => meta.get(name)).find((value) => value !== undefined) ?? '';
  return {
    title: shortened((first('og:title', 'twitter:title') || title).trim(), TITLE_LENGTH),
    description: shortened(first('og:description', 'twitter:description', 'description'), DESCRIPTION_LENGTH),
    picture: first('og:image', 'og:image:url', 'twitter:image'),
  };
}

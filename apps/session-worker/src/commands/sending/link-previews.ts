/**
 * Previews of the pages that links in texts lead to.
 *
 * A preview is an extra: whatever goes wrong with it (no answer in time, an address that is not public, no HTML, a page
 * or picture over its budget), the text goes without it. Pages are fetched from public addresses only, redirects
 * included. What was found, "nothing" too, is remembered for some minutes, because the same link is often sent to many.
 */
import type { Downloader } from '@dormouse/media-files';
import { Parser } from 'htmlparser2';
import type { LinkPreview } from '../../convert/plain-to-network.js';
import type { Images, LinkPicture } from '../../media/images.js';
import { pageText, shortened } from './page-text.js';

/** All of it: page and picture. A send waits no longer for its preview. */
const WITHIN_MS = 3_000;
/** Titles and pictures are named at the beginning of a page. */
const PAGE_BYTES = 512 * 1024;
const PICTURE_BYTES = 2 * 1024 * 1024;
const REMEMBERED = 500;
const REMEMBERED_FOR_MS = 5 * 60_000;
const TITLE_LENGTH = 300;
const DESCRIPTION_LENGTH = 600;

export interface PagePreview extends Omit<LinkPreview, 'url'> {
  picture?: Buffer | undefined;
  /** Where the page's own picture is. */
  pictureAddress?: string | undefined;
}

interface Remembered {
  preview: Promise<PagePreview | undefined>;
  untilMs: number;
}

export class LinkPreviews {
  private readonly remembered = new Map<string, Remembered>();

  constructor(
    private readonly downloader: Pick<Downloader, 'open'>,
    private readonly images: Pick<Images, 'thumbnailOf' | 'linkPictureOf'>,
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * What to show of the page; undefined when there is nothing to show. Never rejects.
   * @param owner the channel it is for
   */
  of(url: string, owner: string): Promise<PagePreview | undefined> {
    const known = this.remembered.get(url);
    if (known && known.untilMs > this.now()) return known.preview;
    const preview = this.fetched(url, owner);
    this.remembered.delete(url);
    this.remembered.set(url, { preview, untilMs: this.now() + REMEMBERED_FOR_MS });
    const [oldest] = this.remembered.keys();
    if (this.remembered.size > REMEMBERED && oldest !== undefined) this.remembered.delete(oldest);
    return preview;
  }

  private async fetched(url: string, owner: string): Promise<PagePreview | undefined> {
    const signal = AbortSignal.timeout(WITHIN_MS);
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

  /** The page's picture, large; undefined when it cannot be had in time. Never rejects. */
  async widePicture({ pictureAddress }: PagePreview, owner: string): Promise<LinkPicture | undefined> {
    if (pictureAddress === undefined) return undefined;
    try {
      const signal = AbortSignal.timeout(WITHIN_MS);
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

  /** The first `maxBytes` of an answer; of a picture that is larger nothing is of use, and decoding it fails. */
  private async read(url: URL, maxBytes: number, signal: AbortSignal, wanted: RegExp) {
    const { stream, claimedType: type = '' } = await this.downloader.open(url, 'body', signal);
    stream.on('error', () => undefined); // an answer that is let go of complains
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      if (!wanted.test(type)) return { bytes: Buffer.alloc(0), type };
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

/** Title, description and picture that a page gives itself: Open Graph first, then its own title. */
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

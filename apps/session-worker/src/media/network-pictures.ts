import type { Dispatcher } from 'undici';
import type { NetworkSession } from '../socket/network-session.js';
import type { MediaHost } from './media-host.js';
import type { Images } from './images.js';

/** A send waits no longer for a picture that only adorns it. */
const WITHIN_MS = 3_000;
const MOST_BYTES = 2 * 1024 * 1024;

/** What of a session is needed: whom to ask, and the way to the file. */
interface PictureSession {
  readonly channelId: string;
  readonly network: { readonly people: Pick<NetworkSession['people'], 'smallPicture'> };
  readonly fileRoute?: Dispatcher | undefined;
}

/** Pictures of people and groups, as the network shows them. */
export class NetworkPictures {
  constructor(
    private readonly host: Pick<MediaHost, 'open'>,
    private readonly images: Pick<Images, 'thumbnailOf'>,
  ) {}

  /**
   * A small JPEG of somebody's picture.
   * @param jid of a person or a group
   * @returns undefined when there is none, or none that is shown to this number, in time. Never rejects
   */
  async small(session: PictureSession, jid: string): Promise<Buffer | undefined> {
    try {
      const url = await session.network.people.smallPicture(jid, WITHIN_MS);
      return url === undefined ? undefined : await this.fetched(session, url);
    } catch {
      return undefined;
    }
  }

  private async fetched({ channelId, fileRoute }: PictureSession, url: string): Promise<Buffer | undefined> {
    const signal = AbortSignal.timeout(WITHIN_MS);
    const stream = await this.host.open({ url, directPath: undefined }, signal, fileRoute);
    stream.on('error', () => undefined); // an answer that is let go of complains
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) return undefined;
        chunks.push(chunk);
      }
    } finally {
      stream.destroy();
    }
    const { thumbnail } = await this.images.thumbnailOf(Buffer.concat(chunks), { owner: channelId, signal });
    return Buffer.from(thumbnail, 'base64');
  }
}

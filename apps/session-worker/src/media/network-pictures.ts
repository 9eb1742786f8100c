import type { Dispatcher } from 'undici';
import type { NetworkSession } from '../socket/network-session.js';
import type { MediaHost } from './media-host.js';
import type { Images } from './images.js';

/** Timeout of the query and of the download: a send is not delayed for longer by a picture it can do without. */
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 2 * 1024 * 1024;

/** The part of a session that is used: the query, and the connection for the download. */
interface PictureSession {
  readonly channelId: string;
  readonly network: { readonly people: Pick<NetworkSession['people'], 'smallPicture'> };
  readonly fileRoute?: Dispatcher | undefined;
}

/** Profile pictures of people and groups, downloaded from the network. */
export class NetworkPictures {
  constructor(
    private readonly host: Pick<MediaHost, 'open'>,
    private readonly images: Pick<Images, 'thumbnailOf'>,
  ) {}

  /**
   * A small JPEG of a profile picture.
   * @param jid of a person or a group
   * @returns undefined when there is none, this number may not see it, or it does not arrive in time. Never rejects
   */
  async small(session: PictureSession, jid: string): Promise<Buffer | undefined> {
    try {
      const url = await session.network.people.smallPicture(jid, TIMEOUT_MS);
      return url === undefined ? undefined : await this.download(session, url);
    } catch {
      return undefined;
    }
  }

  private async download({ channelId, fileRoute }: PictureSession, url: string): Promise<Buffer | undefined> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const stream = await this.host.open({ url, directPath: undefined }, signal, fileRoute);
    stream.on('error', () => undefined); // destroying the response emits an error
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) return undefined;
        chunks.push(chunk);
      }
    } finally {
      stream.destroy();
    }
    const { thumbnail } = await this.images.thumbnailOf(Buffer.concat(chunks), { owner: channelId, signal });
    return Buffer.from(thumbnail, 'base64');
  }
}

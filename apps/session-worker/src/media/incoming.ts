/**
 * Files of received messages: downloaded from the network, decrypted and checked while they are written to the spool,
 * then stored in the media store under the message's media id. A file whose length, hash or authentication code is wrong
 * is never stored. If the network no longer has a file, the phone is requested once to upload it again.
 *
 * Without the object storage or the network's file host a fetch fails with 502 and can be repeated, as long as the network
 * has the file. When neither host nor phone sends anything for a while, it fails with 503.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '@dormouse/gateway-contract';
import { typeOfFile, type Spool, type SpooledFile } from '@dormouse/media-files';
import type { NetworkMedia } from '@dormouse/media-store/network';
import type { Dispatcher } from 'undici';
import type { MessageContent } from '../convert/message-bytes.js';
import type { NetworkSession } from '../socket/network-session.js';
import type { MessageKey } from '../socket/requests/message-requests.js';
import { FairQueue } from './fair-queue.js';
import { receivedFile, type ReceivedFile } from './received-file.js';
import { FileGone, HostFailed, type MediaHost } from './media-host.js';
import { DamagedFile, decrypted, fileKeys } from './network-encryption.js';
import { SharedWork } from './shared-work.js';

const ATTEMPTS = 3;
const MIB = 1024 * 1024;

export interface IncomingMediaOptions {
  network: NetworkMedia;
  spool: Spool;
  host: MediaHost;
  /** The largest file that is downloaded. The network itself accepts documents of 2 GiB. */
  maxBytes?: number;
  /** Parallel downloads in this process; further ones wait. */
  maxParallel?: number;
  /** Parallel downloads of one channel, so that a channel with slow files leaves slots for the others. */
  maxParallelPerChannel?: number;
  /** Timeout of one download, including the phone's upload. */
  timeoutMs?: number;
  /** How long a download may receive nothing, including the time that the phone needs. */
  stallTimeoutMs?: number;
  /** Timeout for the phone's upload. */
  phoneTimeoutMs?: number;
}

/** A message whose file is fetched. */
export interface ReceivedMessage {
  channelId: string;
  /** The id under which the file is stored: that in the message's content. */
  mediaId: string;
  message: { key: MessageKey; message?: MessageContent | null | undefined };
  /** Absent: the phone is not requested to upload a file that is gone from the network. */
  network?: { readonly files: Pick<NetworkSession['files'], 'requestReupload'> } | undefined;
  /** Connects through the channel's proxy; absent: directly. */
  fileRoute?: Dispatcher | undefined;
  /** Aborted when the caller no longer waits. The download is cancelled when no caller waits for it. */
  signal?: AbortSignal | undefined;
}

/** The signal of a download that is aborted when it stalls. */
interface Watched {
  signal: AbortSignal;
  onProgress: () => void;
}

const STALLED = { details: 'the network sends no data of the file: try again later', retryAfterS: 30 };

export class IncomingMedia {
  readonly #queue: FairQueue;
  readonly #underWay = new SharedWork<void>();

  constructor(private readonly options: IncomingMediaOptions) {
    const { maxParallel = 16, maxParallelPerChannel = 4 } = options;
    this.#queue = new FairQueue({ slots: maxParallel, slotsPerOwner: maxParallelPerChannel });
  }

  /**
   * Downloads the file of a message into the media store. Parallel calls share one download; content that the channel
   * has already is not downloaded.
   * @throws {GatewayError} 404 when the message has no file or neither network nor phone has it any more, 413 beyond
   * `maxBytes` or the room in the channel's storage, 502 when the download fails or is damaged, 503 after a timeout
   */
  async fetch(received: ReceivedMessage): Promise<void> {
    const { channelId, mediaId } = received;
    const fetchOnce = (signal: AbortSignal) =>
      this.#queue.run(channelId, () => this.#fetchOnce(received, signal), signal);
    await this.#underWay.join(`${channelId} ${mediaId}`, fetchOnce, received.signal);
  }

  async #fetchOnce(
    { channelId, mediaId, message, network: phone, fileRoute }: ReceivedMessage,
    abandoned: AbortSignal,
  ): Promise<void> {
    const file = receivedFile(message.message);
    if (!file) throw new GatewayError(404, { details: 'the message has no file' });
    this.#hold(file, file.fileLength ?? 0);
    const { network } = this.options;
    const claims = { mimeType: file.mimeType ?? 'application/octet-stream', fileName: file.fileName };
    if (file.fileSha256) {
      const known = await network.nameKnown(channelId, mediaId, file.fileSha256, { ...claims, origin: 'received' });
      if (known) return;
    }
    await network.assertMayKeep(channelId, mediaId, file.fileLength ?? 0);
    const signal = AbortSignal.any([abandoned, AbortSignal.timeout(this.options.timeoutMs ?? 300_000)]);
    const spooled = await this.#download(file, { message, network: phone, fileRoute }, signal);
    try {
      const { mimeType } = await typeOfFile(spooled.path, spooled.head, claims);
      await network.keepReceived(channelId, mediaId, spooled, { mimeType, fileName: file.fileName });
    } finally {
      await spooled.dispose();
    }
  }

  /** Aborts the download when it stalls. */
  async #download(
    file: ReceivedFile,
    from: Pick<ReceivedMessage, 'message' | 'network' | 'fileRoute'>,
    signal: AbortSignal,
  ): Promise<SpooledFile> {
    const stalled = new AbortController();
    const giveUp = () => stalled.abort(new GatewayError(503, STALLED));
    const timer = setTimeout(giveUp, this.options.stallTimeoutMs ?? 18_000);
    const watched = { signal: AbortSignal.any([signal, stalled.signal]), onProgress: () => void timer.refresh() };
    try {
      return await this.#tries(file, from, watched);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Retries a few times. When the network reports that the file is gone, requests it from the phone, once. */
  async #tries(
    file: ReceivedFile,
    { message, network, fileRoute }: Pick<ReceivedMessage, 'message' | 'network' | 'fileRoute'>,
    watched: Watched,
  ): Promise<SpooledFile> {
    const { signal } = watched;
    let place = file.place;
    let isPhoneRequested = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#receive({ ...file, place }, fileRoute, watched);
      } catch (error) {
        if (signal.aborted) throw receiveFailure(signal.reason);
        if (error instanceof FileGone && network && !isPhoneRequested) {
          isPhoneRequested = true;
          const timeoutMs = this.options.phoneTimeoutMs ?? 12_000;
          const directPath = await network.files.requestReupload(message.key, file.mediaKey, timeoutMs);
          place = { directPath, url: file.place.url };
          continue;
        }
        const mayWork = error instanceof HostFailed || error instanceof DamagedFile;
        if (!mayWork || attempt >= ATTEMPTS) throw receiveFailure(error);
        await pause(attempt * 250, undefined, { signal }).catch(() => {
          throw receiveFailure(signal.reason);
        });
      }
    }
  }

  async #receive(file: ReceivedFile, route: Dispatcher | undefined, watched: Watched): Promise<SpooledFile> {
    const { signal, onProgress } = watched;
    const encrypted = await this.options.host.open(file.place, signal, route);
    // It is read to its end or destroyed below; errors after that have no one to handle them.
    encrypted.on('error', () => undefined);
    const keys = await fileKeys(file.mediaKey, file.kind);
    const spooled = await this.options.spool.keep(decrypted(readable(encrypted), keys), {
      signal,
      onSize: (size) => {
        onProgress();
        this.#hold(file, size);
      },
    });
    const damage = damageOf(file, spooled);
    if (damage === undefined) return spooled;
    await spooled.dispose();
    throw new DamagedFile(damage);
  }

  #hold(file: ReceivedFile, size: number): void {
    const most = this.options.maxBytes ?? 100 * MIB;
    if (size > most) throw new GatewayError(413, { details: `${file.kind}: larger than ${most} bytes` });
  }
}

/** A connection that ends early is a failure of the host and can be retried; the file itself is not damaged. */
async function* readable(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw new HostFailed('connection ended early', { cause: error });
  }
}

function damageOf(file: ReceivedFile, spooled: SpooledFile): string | undefined {
  if (file.fileLength !== undefined && spooled.size !== file.fileLength) return 'its length is not the announced one';
  if (file.fileSha256 && !spooled.sha256.equals(file.fileSha256)) return 'its hash is not the announced one';
  return undefined;
}

function receiveFailure(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  if (error instanceof FileGone) {
    return new GatewayError(404, { details: 'the network no longer has the file' }, { cause: error });
  }
  if (error instanceof DamagedFile) {
    return new GatewayError(502, { details: 'the file from the network is damaged' }, { cause: error });
  }
  return new GatewayError(
    502,
    { details: 'the file could not be downloaded from the network, try again' },
    { cause: error },
  );
}

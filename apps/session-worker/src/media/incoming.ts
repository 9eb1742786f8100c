/**
 * Files of heard messages: fetched from the network, decrypted and checked on the way to the spool, then kept in the
 * media store under the message's media id. A file whose length, hash or authentication code is wrong is never kept.
 * One that the network no longer has is asked for from the phone, once.
 *
 * With the object storage or the network's host away it fails with 502 and can be asked for again; nothing is lost but
 * the time until the network forgets the file. When nothing comes for a while, from host or phone, it fails with 503.
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
import { heardFile, type HeardFile } from './heard-file.js';
import { FileGone, HostFailed, type MediaHost } from './media-host.js';
import { DamagedFile, decrypted, fileKeys } from './network-encryption.js';
import { SharedWork } from './shared-work.js';

const ATTEMPTS = 3;
const MIB = 1024 * 1024;

export interface IncomingMediaOptions {
  network: NetworkMedia;
  spool: Spool;
  host: MediaHost;
  /** The largest file that is fetched. The network itself takes documents of 2 GiB. */
  maxBytes?: number;
  /** Downloads at a time in this process; further ones wait. */
  maxParallel?: number;
  /** And of one channel, so that one with slow files leaves room for the others. */
  maxParallelPerChannel?: number;
  /** How long one file may take, the phone included. */
  timeoutMs?: number;
  /** How long nothing may come of it, the phone's time included. */
  stallTimeoutMs?: number;
  /** How long the phone may take to put a file back. */
  phoneTimeoutMs?: number;
}

/** What is asked for. */
export interface ReceivedMessage {
  channelId: string;
  /** Under which id the file is kept: that of the message's content. */
  mediaId: string;
  message: { key: MessageKey; message?: MessageContent | null | undefined };
  /** Absent: a file that is gone from the network is not asked for from the phone. */
  network?: { readonly files: Pick<NetworkSession['files'], 'requestReupload'> } | undefined;
  /** The way through the channel's proxy; absent: directly. */
  fileRoute?: Dispatcher | undefined;
  /** Who asks goes; when the last one has, the transfer ends. */
  signal?: AbortSignal | undefined;
}

/** A transfer that is given up when it stalls. */
interface Watched {
  signal: AbortSignal;
  onProgress: () => void;
}

const STALLED = { details: 'the file does not come from the network: try again later', retryAfterS: 30 };

export class IncomingMedia {
  readonly #queue: FairQueue;
  readonly #underWay = new SharedWork<void>();

  constructor(private readonly options: IncomingMediaOptions) {
    const { maxParallel = 16, maxParallelPerChannel = 4 } = options;
    this.#queue = new FairQueue({ slots: maxParallel, slotsPerOwner: maxParallelPerChannel });
  }

  /**
   * Brings the file of a message into the media store. Asking twice at once fetches once; content the channel has
   * already is not fetched at all.
   * @throws {GatewayError} 404 when the message has no file or nobody has it any more, 413 beyond `maxBytes` or
   * without room in the channel's storage, 502 when
   * it cannot be had now or comes damaged, 503 when nothing comes in time
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
    const file = heardFile(message.message);
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

  /** Gives up when nothing comes for too long. */
  async #download(
    file: HeardFile,
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

  /** Tries a few times, and asks the phone once when the network says the file is gone. */
  async #tries(
    file: HeardFile,
    { message, network, fileRoute }: Pick<ReceivedMessage, 'message' | 'network' | 'fileRoute'>,
    watched: Watched,
  ): Promise<SpooledFile> {
    const { signal } = watched;
    let place = file.place;
    let asked = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#receive({ ...file, place }, fileRoute, watched);
      } catch (error) {
        if (signal.aborted) throw receiveFailure(signal.reason);
        if (error instanceof FileGone && network && !asked) {
          asked = true;
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

  async #receive(file: HeardFile, route: Dispatcher | undefined, watched: Watched): Promise<SpooledFile> {
    const { signal, onProgress } = watched;
    const hidden = await this.options.host.open(file.place, signal, route);
    // Read to its end or destroyed below; what it may still say after that is nobody's business.
    hidden.on('error', () => undefined);
    const keys = await fileKeys(file.mediaKey, file.kind);
    const spooled = await this.options.spool.keep(decrypted(readable(hidden), keys), {
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

  #hold(file: HeardFile, size: number): void {
    const most = this.options.maxBytes ?? 100 * MIB;
    if (size > most) throw new GatewayError(413, { details: `${file.kind}: larger than ${most} bytes` });
  }
}

/** A connection that breaks off is the host's failure, not the file's. */
async function* readable(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw new HostFailed('broke off', { cause: error });
  }
}

function damageOf(file: HeardFile, spooled: SpooledFile): string | undefined {
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
    return new GatewayError(502, { details: 'the file comes damaged from the network' }, { cause: error });
  }
  return new GatewayError(
    502,
    { details: 'the file could not be downloaded from the network, try again' },
    { cause: error },
  );
}

/**
 * Files on their way to the network: fetched from the object storage, prepared for their kind of message, encrypted and
 * uploaded, all through the spool and never whole in memory. What the network holds already is used again, by every
 * send of the same content, until it is too old or gone; then it is uploaded anew and nobody notices.
 *
 * With the object storage or the network's file host away a send fails with 502 before anything was said.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { GatewayError } from '@dormouse/gateway-contract';
import { fileTooLarge, type MediaLimits, type Spool, type SpooledFile } from '@dormouse/media-files';
import type { NetworkCopy, NetworkMedia } from '@dormouse/media-store/network';
import { storageFailure, storedBytes, type MediaFile } from '@dormouse/media-store/read';
import type { ObjectStorage } from '@dormouse/object-storage';
import type { Dispatcher } from 'undici';
import type { NetworkSession } from '../socket/network-session.js';
import { FairQueue } from './fair-queue.js';
import type { MediaHost } from './media-host.js';
import { encrypted, fileKeys, NETWORK_TYPES, type HiddenKind } from './network-encryption.js';
import type { LinkPicture } from './media-tasks.js';
import type { Preparation } from './preparation.js';
import { preparedFacts, type PreparedFacts, type SendKind } from './prepared-file.js';
import { SharedWork } from './shared-work.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** The network keeps a file for about 14 days; receivers who come back late need some of them. */
const LONGEST_REUSE_MS = 12 * DAY_MS;
/** A younger copy is used without asking whether it is still there. */
const SURELY_THERE_MS = DAY_MS;
const PROBE_TIMEOUT_MS = 5_000;

export interface OutgoingMediaOptions {
  network: NetworkMedia;
  storage: ObjectStorage;
  spool: Spool;
  limits: MediaLimits;
  preparation: Preparation;
  host: MediaHost;
  /** Files prepared and uploaded at a time in this process; further ones wait. What is made of them has its own bounds. */
  maxParallel?: number;
  /** And of one channel, so that a number with many files leaves room for the others. */
  maxParallelPerChannel?: number;
  now?: () => number;
}

/** What of a session is needed: its ways to upload and to look. */
export interface UploadingSession {
  readonly channelId: string;
  readonly network: { readonly files: Pick<NetworkSession['files'], 'upload'> };
  readonly fileRoute?: Dispatcher | undefined;
}

/** A file the network holds, with everything a message that points to it says. */
export interface NetworkFile {
  kind: SendKind;
  copy: NetworkCopy;
  facts: PreparedFacts;
}

/** Where the network holds the large picture of a preview. */
export interface PlacedLinkPicture {
  directPath: string;
  mediaKey: Uint8Array;
  sha256: Uint8Array;
  encSha256: Uint8Array;
  width: number;
  height: number;
  uploadedAtS: number;
}

export class OutgoingMedia {
  readonly #queue: FairQueue;
  readonly #underWay = new SharedWork<NetworkFile>();

  constructor(private readonly options: OutgoingMediaOptions) {
    const { maxParallel = 16, maxParallelPerChannel = 2 } = options;
    this.#queue = new FairQueue({ slots: maxParallel, slotsPerOwner: maxParallelPerChannel });
  }

  /**
   * Sees to it that the network holds a file in the form of its kind.
   * @param asked.asIs send it byte for byte (`no_encode`)
   * @param asked.signal the caller has gone; when the last one has, the work ends
   * @throws {GatewayError} 413 beyond the kind's limit; 400 naming `media` when the file is not what it is sent as; 502
   * when storage or network fail
   */
  async place(
    session: UploadingSession,
    file: MediaFile,
    kind: SendKind,
    asked: { asIs?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<NetworkFile> {
    if (file.size > this.options.limits[kind]) throw fileTooLarge(kind, this.options.limits);
    const variant = asked.asIs ? `${kind}:as-is` : kind;
    const placed = await this.#underWay.join(
      `${file.objectKey} ${variant}`,
      (signal) => this.#placeOnce(session, file, kind, { variant, signal }),
      asked.signal,
    );
    // The same bytes may be kept under different claims; a document is what its own file says.
    return kind === 'document' ? { ...placed, facts: { ...placed.facts, mimeType: file.mimeType } } : placed;
  }

  /**
   * Takes the large picture of a link's preview to the network.
   * @throws {GatewayError} 502 when the network does not take it
   */
  async placeLinkPicture(session: UploadingSession, { jpeg, width, height }: LinkPicture): Promise<PlacedLinkPicture> {
    const mediaKey = randomBytes(32);
    const hidden = await this.options.spool.keep(
      encrypted(Readable.from([jpeg]), await fileKeys(mediaKey, 'linkPicture')),
    );
    try {
      const { directPath } = await sendUp(session, hidden, 'linkPicture');
      const sha256 = createHash('sha256').update(jpeg).digest();
      const uploadedAtS = Math.floor(this.#now() / 1_000);
      return { directPath, mediaKey, sha256, encSha256: hidden.sha256, width, height, uploadedAtS };
    } finally {
      await hidden.dispose();
    }
  }

  async #placeOnce(
    session: UploadingSession,
    file: MediaFile,
    kind: SendKind,
    { variant, signal }: { variant: string; signal: AbortSignal },
  ): Promise<NetworkFile> {
    const { network } = this.options;
    const held = await network.copy(file.objectKey, variant);
    const facts = preparedFacts.safeParse(held?.prepared);
    if (held && facts.success) {
      const [there, kept] = await Promise.all([
        this.#isThere(held, session.fileRoute),
        this.#isKept(session.channelId, file, { copy: held, facts: facts.data }),
      ]);
      if (there && kept) return { kind, copy: held, facts: facts.data };
    }
    const asIs = variant.endsWith(':as-is');
    const upload = () => this.#upload(session, file, kind, { asIs, signal });
    const placed = await this.#queue.run(session.channelId, upload, signal);
    await network.rememberCopy(file.objectKey, variant, placed.copy);
    return placed;
  }

  /**
   * Whether the channel has the very bytes that a message with this copy points to: the customer's own file, or the one
   * that was made of it, whose retention begins anew.
   */
  async #isKept(
    channelId: string,
    file: MediaFile,
    { copy, facts }: { copy: NetworkCopy; facts: PreparedFacts },
  ): Promise<boolean> {
    if (file.sha256.equals(copy.fileSha256)) return true;
    const { madeId: id, mimeType } = facts;
    if (id === undefined) return false;
    const { network } = this.options;
    return (await network.nameKnown(channelId, id, copy.fileSha256, { mimeType, origin: 'sent' })) !== undefined;
  }

  async #isThere(copy: NetworkCopy, route: Dispatcher | undefined): Promise<boolean> {
    const ageMs = this.#now() - copy.uploadedAtMs;
    if (ageMs > LONGEST_REUSE_MS) return false;
    if (ageMs < SURELY_THERE_MS) return true;
    return this.options.host.has(copy, AbortSignal.timeout(PROBE_TIMEOUT_MS), route).catch(() => true);
  }

  async #upload(
    session: UploadingSession,
    file: MediaFile,
    kind: SendKind,
    { asIs, signal }: { asIs: boolean; signal: AbortSignal },
  ): Promise<NetworkFile> {
    const held: SpooledFile[] = [];
    const hold = <T extends SpooledFile>(spooled: T): T => {
      held.push(spooled);
      return spooled;
    };
    try {
      const source = hold(await this.#fetch(file));
      const { preparation, spool } = this.options;
      const { mimeType } = file;
      const owner = session.channelId;
      const { file: ready, facts: found } = await preparation.prepare(kind, source, { mimeType, asIs, owner, signal });
      hold(ready);
      const mediaKey = randomBytes(32);
      const hidden = hold(await spool.keep(encrypted(ready.read(), await fileKeys(mediaKey, kind))));
      const uploadedAtMs = this.#now();
      const [{ mediaUrl, directPath }, madeId] = await Promise.all([
        sendUp(session, hidden, kind),
        ready === source ? undefined : this.options.network.keepMade(owner, ready, { mimeType: found.mimeType }),
      ]);
      const facts = madeId === undefined ? found : { ...found, madeId };
      const copy: NetworkCopy = {
        directPath,
        url: mediaUrl || undefined,
        mediaKey,
        fileSha256: ready.sha256,
        fileEncSha256: hidden.sha256,
        fileLength: ready.size,
        prepared: facts,
        uploadedAtMs,
      };
      return { kind, copy, facts };
    } finally {
      await Promise.all(held.map((spooled) => spooled.dispose()));
    }
  }

  async #fetch(file: MediaFile): Promise<SpooledFile> {
    const { storage, spool } = this.options;
    let source: SpooledFile;
    try {
      source = await spool.keep(storedBytes((await storage.get(file.objectKey)).stream));
    } catch (error) {
      throw storageFailure(error);
    }
    if (source.sha256.equals(file.sha256)) return source;
    await source.dispose();
    throw new GatewayError(502, { details: 'the stored file is damaged' });
  }

  #now(): number {
    return (this.options.now ?? Date.now)();
  }
}

async function sendUp(session: UploadingSession, hidden: SpooledFile, kind: HiddenKind) {
  try {
    const sha256 = hidden.sha256.toString('base64');
    const upload = { path: hidden.path, type: NETWORK_TYPES[kind], sha256, timeoutMs: 30_000 };
    return await session.network.files.upload(upload);
  } catch (error) {
    throw new GatewayError(502, { details: 'uploading the file to the network failed' }, { cause: error });
  }
}

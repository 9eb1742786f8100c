/**
 * Files of sends: read from the object storage, prepared for their kind of message, encrypted and uploaded, all through the
 * spool and never whole in memory. An uploaded copy is used for every send of the same content until it is too old or
 * gone from the network; then the file is uploaded again.
 *
 * Without the object storage or the network's file host a send fails with 502 before any message was sent.
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
import { encrypted, fileKeys, NETWORK_TYPES, type EncryptedKind } from './network-encryption.js';
import type { LinkPicture } from './media-tasks.js';
import type { Preparation } from './preparation.js';
import { preparedFacts, type PreparedFacts, type SendKind } from './prepared-file.js';
import { SharedWork } from './shared-work.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
/**
 * Age up to which an uploaded copy is used. The network stores a file for about two weeks (mautrix/whatsapp#474); the rest of
 * them is left for receivers that come online late.
 */
const MAX_REUSE_AGE_MS = 12 * DAY_MS;
/** Age up to which a copy is used without checking that the network still has it. */
const UNCHECKED_AGE_MS = DAY_MS;
const PROBE_TIMEOUT_MS = 5_000;

export interface OutgoingMediaOptions {
  network: NetworkMedia;
  storage: ObjectStorage;
  spool: Spool;
  limits: MediaLimits;
  preparation: Preparation;
  host: MediaHost;
  /** Files prepared and uploaded in parallel in this process; further ones wait. Conversions have their own bounds. */
  maxParallel?: number;
  /** The same of one channel, so that a channel with many files leaves slots for the others. */
  maxParallelPerChannel?: number;
  now?: () => number;
}

/** The part of a session that is used: the upload, and the connection to the file host. */
export interface UploadingSession {
  readonly channelId: string;
  readonly network: { readonly files: Pick<NetworkSession['files'], 'upload'> };
  readonly fileRoute?: Dispatcher | undefined;
}

/** An uploaded file, with all fields of a message that points to it. */
export interface NetworkFile {
  kind: SendKind;
  copy: NetworkCopy;
  facts: PreparedFacts;
}

/** The uploaded large image of a link preview. */
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
   * Uploads a file to the network in the form of its kind, unless a usable copy is there. Parallel calls share one upload.
   * @param options.asIs send it byte for byte (`no_encode`)
   * @param options.signal aborted when the caller no longer waits; the work is cancelled when no caller does
   * @throws {GatewayError} 413 beyond the kind's limit; 400 naming `media` when the file is not of the type it is sent as;
   * 502 when storage or network fail
   */
  async place(
    session: UploadingSession,
    file: MediaFile,
    kind: SendKind,
    options: { asIs?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<NetworkFile> {
    if (file.size > this.options.limits[kind]) throw fileTooLarge(kind, this.options.limits);
    const variant = options.asIs ? `${kind}:as-is` : kind;
    const placed = await this.#underWay.join(
      `${file.objectKey} ${variant}`,
      (signal) => this.#placeOnce(session, file, kind, { variant, signal }),
      options.signal,
    );
    // The same bytes may be stored with different types; a document has the type of the given file.
    return kind === 'document' ? { ...placed, facts: { ...placed.facts, mimeType: file.mimeType } } : placed;
  }

  /**
   * Uploads the large image of a link preview.
   * @throws {GatewayError} 502 when the upload fails
   */
  async placeLinkPicture(session: UploadingSession, { jpeg, width, height }: LinkPicture): Promise<PlacedLinkPicture> {
    const mediaKey = randomBytes(32);
    const ciphertext = await this.options.spool.keep(
      encrypted(Readable.from([jpeg]), await fileKeys(mediaKey, 'linkPicture')),
    );
    try {
      const { directPath } = await uploadCiphertext(session, ciphertext, 'linkPicture');
      const sha256 = createHash('sha256').update(jpeg).digest();
      const uploadedAtS = Math.floor(this.#now() / 1_000);
      return { directPath, mediaKey, sha256, encSha256: ciphertext.sha256, width, height, uploadedAtS };
    } finally {
      await ciphertext.dispose();
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
   * Whether the channel's media store has the bytes that a message with this copy points to: the customer's own file, or
   * the file converted from it, whose retention starts anew.
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
    if (ageMs > MAX_REUSE_AGE_MS) return false;
    if (ageMs < UNCHECKED_AGE_MS) return true;
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
      const ciphertext = hold(await spool.keep(encrypted(ready.read(), await fileKeys(mediaKey, kind))));
      const uploadedAtMs = this.#now();
      const [{ mediaUrl, directPath }, madeId] = await Promise.all([
        uploadCiphertext(session, ciphertext, kind),
        ready === source ? undefined : this.options.network.keepMade(owner, ready, { mimeType: found.mimeType }),
      ]);
      const facts = madeId === undefined ? found : { ...found, madeId };
      const copy: NetworkCopy = {
        directPath,
        url: mediaUrl || undefined,
        mediaKey,
        fileSha256: ready.sha256,
        fileEncSha256: ciphertext.sha256,
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

async function uploadCiphertext(session: UploadingSession, ciphertext: SpooledFile, kind: EncryptedKind) {
  try {
    const sha256 = ciphertext.sha256.toString('base64');
    const upload = { path: ciphertext.path, type: NETWORK_TYPES[kind], sha256, timeoutMs: 30_000 };
    return await session.network.files.upload(upload);
  } catch (error) {
    throw new GatewayError(502, { details: 'uploading the file to the network failed' }, { cause: error });
  }
}

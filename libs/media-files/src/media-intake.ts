/**
 * Receives a customer's file in any of its forms: detects its type, enforces the size limit of its kind while reading,
 * and gives it a safe name. The result is a file in the spool.
 */
import { GatewayError, readDataUriHeader, type DataUriHeader, type MediaInput } from '@dormouse/gateway-contract';
import { Base64Decoder, base64Bytes, decodeBase64, NotBase64 } from './base64.js';
import { typeOfFile, typeOfHead, type TypeClaims } from './content-type.js';
import { downloadFailure, type Downloader } from './downloader.js';
import { safeFileName, withExtension } from './file-name.js';
import { fileTooLarge, kindOfUpload, type MediaKind, type MediaLimits } from './media-kinds.js';
import type { Spool, SpooledFile } from './spool.js';

/** The texts of a `media` field that hold a file or lead to one. */
export type GivenMedia = Extract<MediaInput, { form: 'url' | 'base64' }>;

/** A received file. The caller must dispose of it. */
export interface TakenFile extends SpooledFile {
  readonly mimeType: string;
  /** For the media id: letters and digits. */
  readonly extension: string;
  readonly fileName: string | undefined;
}

/** What is known of a file before it is read. */
export interface TakeOptions extends TypeClaims {
  /** The use whose limit holds; absent for an upload: the limit of the kind its content shows. */
  kind?: MediaKind;
  /** The field errors name. */
  field?: string;
  /** Bytes, if announced (Content-Length): a file announced as too large is refused unread. */
  claimedSize?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A text that was decoded into the spool as it arrived, or the reason why it holds no file. */
export type SpooledText =
  { file: SpooledFile; mimeType?: string | undefined; fileName?: string | undefined } | { fault: 'form' | 'base64' };

export interface MediaIntakeOptions {
  spool: Spool;
  downloader: Downloader;
  limits: MediaLimits;
}

export class MediaIntake {
  constructor(private readonly options: MediaIntakeOptions) {}

  /**
   * Takes a file from a `media` text that is not a media id.
   * @throws {GatewayError} 413 beyond the kind's limit; 400 naming the field when it cannot be read or downloaded, or
   * naming `mime_type` for bare base64 whose type cannot be detected
   */
  async takeInput(input: GivenMedia, options: TakeOptions = {}): Promise<TakenFile> {
    return input.form === 'url' ? this.#download(input.url, options) : this.#decode(input, options);
  }

  async #download(url: URL, options: TakeOptions): Promise<TakenFile> {
    const field = options.field ?? 'media';
    const download = await this.options.downloader.open(url, field, options.signal);
    try {
      return await this.takeStream(download.stream, {
        ...options,
        claimedSize: download.claimedSize,
        mimeType: options.mimeType ?? download.claimedType,
        fileName: options.fileName ?? download.claimedName,
      });
    } catch (error) {
      options.signal?.throwIfAborted();
      throw downloadFailure(error, field);
    } finally {
      download.stream.on('error', () => undefined);
      download.stream.destroy();
    }
  }

  async #decode(input: Extract<GivenMedia, { form: 'base64' }>, options: TakeOptions): Promise<TakenFile> {
    const field = options.field ?? 'media';
    const mimeType = options.mimeType ?? input.mimeType;
    const taken = await this.takeStream(decodeBase64(input.base64, field), {
      ...options,
      // Two bytes of padding and an eighth for line breaks are given the benefit of the doubt.
      claimedSize: Math.floor((base64Bytes(input.base64) * 7) / 8) - 2,
      mimeType,
      fileName: options.fileName ?? input.fileName,
    });
    return withKnownType(taken, mimeType);
  }

  /**
   * Decodes base64, or a data: URI of it, into the spool while its text arrives, so that no text is held however long
   * it is. A text that is not base64 is read to its end, since the rest of the body follows it; the result has its fault.
   * @param text in pieces; the first has the whole header of a data: URI
   * @throws {GatewayError} 413 beyond the limit of the kind, or of every kind
   */
  async spoolText(
    text: AsyncIterable<string>,
    options: Pick<TakeOptions, 'kind' | 'signal'> = {},
  ): Promise<SpooledText> {
    const { limits, spool } = this.options;
    const kind = options.kind ?? 'document';
    const most = options.kind ? limits[options.kind] : Math.max(...Object.values(limits));
    const read: TextReading = {};
    const file = await spool.keep(decodedText(text, read), {
      signal: options.signal,
      onSize: (size) => {
        if (size > most) throw fileTooLarge(kind, limits);
      },
    });
    if (!read.fault) return { file, ...read.header };
    await file.dispose();
    return { fault: read.fault };
  }

  /**
   * Takes a file whose text was decoded into the spool; type and name in the request win over those in its data: URI.
   * @throws {GatewayError} as {@link MediaIntake.takeInput}; the file is gone then
   */
  async takeSpooled(spooled: Exclude<SpooledText, { fault: unknown }>, options: TakeOptions = {}): Promise<TakenFile> {
    const { file } = spooled;
    const mimeType = options.mimeType ?? spooled.mimeType;
    const claims = { ...options, mimeType, fileName: options.fileName ?? spooled.fileName };
    const { limits } = this.options;
    try {
      const kind = options.kind ?? kindOfUpload((await typeOfHead(file.head, claims)).mimeType);
      if (file.size > limits[kind]) throw fileTooLarge(kind, limits);
    } catch (error) {
      await file.dispose();
      throw error;
    }
    return withKnownType(await this.#describe(file, claims), mimeType);
  }

  /**
   * Takes a file from a stream: a request body, a file part of a form, an object. A stream that was begun is closed when
   * this fails; a body whose sender must still be answered is given as `body.iterator({ destroyOnReturn: false })`.
   * @throws {GatewayError} 413 beyond the kind's limit, as soon as that is known; 400 for an empty file
   */
  async takeStream(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: TakeOptions = {},
  ): Promise<TakenFile> {
    const { limits } = this.options;
    let kind = options.kind;
    const hold = (size: number) => {
      if (kind && size > limits[kind]) throw fileTooLarge(kind, limits);
    };
    // What is announced is above every limit, or above the one that holds: no need to read any of it.
    if (options.claimedSize !== undefined) {
      if (!kind && options.claimedSize > Math.max(limits.image, limits.video, limits.audio, limits.document)) {
        throw fileTooLarge('document', limits);
      }
      hold(options.claimedSize);
    }
    const file = await this.options.spool.keep(source, {
      signal: options.signal,
      onSize: hold,
      onHead: async (head) => {
        kind ??= kindOfUpload((await typeOfHead(head, options)).mimeType);
        if (options.claimedSize !== undefined) hold(options.claimedSize);
      },
    });
    return this.#describe(file, options);
  }

  async #describe(file: SpooledFile, options: TakeOptions): Promise<TakenFile> {
    try {
      if (file.size === 0) throw new GatewayError(400, { details: `${options.field ?? 'media'}: is empty` });
      const { mimeType, extension } = await typeOfFile(file.path, file.head, options);
      const name = safeFileName(options.fileName);
      return { ...file, mimeType, extension, fileName: name && withExtension(name, extension) };
    } catch (error) {
      await file.dispose();
      throw error;
    }
  }
}

/** What was found while a text was read. */
interface TextReading {
  header?: DataUriHeader;
  fault?: 'form' | 'base64';
}

async function* decodedText(text: AsyncIterable<string>, read: TextReading): AsyncGenerator<Buffer> {
  const decoder = new Base64Decoder();
  let isFirst = true;
  const decoded = (piece: string): Buffer => {
    if (!isFirst || !/^data:/i.test(piece)) return decoder.push(piece);
    const header = readDataUriHeader(piece);
    if (header) read.header = header;
    else read.fault = 'form';
    return header ? decoder.push(piece.slice(header.dataAt)) : Buffer.alloc(0);
  };
  const guarded = (decode: () => Buffer): Buffer => {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof NotBase64)) throw error;
      read.fault = 'base64';
      return Buffer.alloc(0);
    }
  };
  for await (const piece of text) {
    const bytes = read.fault ? Buffer.alloc(0) : guarded(() => decoded(piece));
    isFirst = false;
    if (bytes.length > 0) yield bytes;
  }
  const last = read.fault ? Buffer.alloc(0) : guarded(() => decoder.end());
  if (last.length > 0) yield last;
}

/** Bare base64 has no name: where the content does not show its type, the sender must give it. */
async function withKnownType(taken: TakenFile, claimed: string | undefined): Promise<TakenFile> {
  if (taken.mimeType !== 'application/octet-stream' || claimed !== undefined) return taken;
  await taken.dispose();
  throw new GatewayError(400, { details: 'mime_type: required, the type cannot be detected' });
}

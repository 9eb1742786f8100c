/**
 * Files in requests, in any form: received into the spool, checked, and stored in the media store before the command is
 * sent, so that commands only carry ids. When the request ends, for whatever reason, its spool files are deleted.
 * In every form the bytes pass through memory in pieces: base64 is decoded as it arrives.
 *
 * Object storage unreachable: 502, no command was sent and nothing is stored.
 */
import { randomUUID } from 'node:crypto';
import {
  FilePart,
  GatewayError,
  parseForm,
  parseInput,
  readDataUriHeader,
  type FormFileField,
  type MediaInput,
  type MediaLimits,
} from '@dormouse/gateway-contract';
import {
  dispositionName,
  fileTooLarge,
  notBase64,
  safeFileName,
  withExtension,
  type MediaIntake,
  type MediaKind,
  type SpooledText,
  type TakenFile,
} from '@dormouse/media-files';
import type { MediaFile } from '@dormouse/media-store/read';
import type { MediaUploads } from '@dormouse/media-store/uploads';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { UnreadBody, UnreadJson } from '../body/bodies.js';
import { readForm } from './form-parts.js';
import { peek, textOf } from './peeked-bytes.js';
import type { Caller } from '../access/current-channel.js';
import type { StoredFiles } from './stored-files.js';
import type { UploadPlace, UploadPlaces } from './upload-places.js';

export interface RequestFilesOptions {
  intake: Pick<MediaIntake, 'takeInput' | 'takeStream' | 'spoolText' | 'takeSpooled'>;
  uploads: Pick<MediaUploads, 'keep'>;
  stored: Pick<StoredFiles, 'obtain'>;
  limits: MediaLimits;
  places: UploadPlaces;
}

/** The file of a request. */
export interface FileField {
  /** The field that holds the file. */
  field: FormFileField;
  /** The kind whose size limit applies; absent: the kind of the content. */
  kind?: MediaKind;
}

/** What an endpoint accepts. */
export interface FileEndpoint<Schema extends z.ZodObject> extends FileField {
  /** Of its JSON body; a form has the same fields. */
  schema: Schema;
}

/** A body that was read and not yet parsed with a schema. */
export interface ReadBody {
  /** Undefined for a form and for a raw body. */
  json: object | undefined;
  /** @throws {GatewayError} 400 naming the field */
  parse<Schema extends z.ZodObject>(schema: Schema): z.output<Schema>;
}

/** Fields that describe the file. */
export interface FileAttributes {
  mime_type?: string | undefined;
  filename?: string | undefined;
}

/** The file of one request. */
export interface RequestFile {
  /**
   * Stores the file for the channel, unless it is given by the id of a stored one.
   * @param origin 'sent' files are not listed
   * @throws {GatewayError} 400, 413 or 404 naming the field; 429 when too many files of the channel are arriving; 502
   * when the object storage is unreachable
   */
  store(caller: Caller, media: MediaInput, origin: 'uploaded' | 'sent', attributes: FileAttributes): Promise<MediaFile>;
}

/** A file that came with the request and is in the spool. */
interface HeldFile {
  take(attributes: FileAttributes): Promise<TakenFile>;
  dispose(): Promise<void>;
}

/** Spooled files of a request by the handle that replaces them in its parsed body. */
type Held = Map<string, HeldFile>;

/** A request whose file is being received. */
interface Intake extends FileField {
  held: Held;
  place: UploadPlace;
}

/** Replaces a long text that is no media: the schema rejects it with its own error text. */
const NO_MEDIA = 'data:';

export class RequestFiles {
  constructor(private readonly options: RequestFilesOptions) {}

  /**
   * Reads the body of a request and calls `use` with it and its file.
   * @throws {GatewayError} 400 naming the field, 413 naming kind and limit before the rest of the body is read
   */
  async receive<Schema extends z.ZodObject, Result>(
    request: FastifyRequest,
    { schema, ...file }: FileEndpoint<Schema>,
    use: (body: z.output<Schema>, requestFile: RequestFile) => Promise<Result>,
  ): Promise<Result> {
    return this.read(request, file, (body, requestFile) => use(body.parse(schema), requestFile));
  }

  /** As {@link RequestFiles.receive}, for an endpoint whose schema depends on the body. */
  async read<Result>(
    request: FastifyRequest,
    file: FileField,
    use: (body: ReadBody, requestFile: RequestFile) => Promise<Result>,
  ): Promise<Result> {
    const held: Held = new Map();
    const place = this.options.places.open(request.channel?.id ?? '');
    const intake = { ...file, held, place };
    try {
      const body = await this.#read(request, intake);
      const requestFile: RequestFile = {
        store: (caller, media, origin, attributes) => this.#store(caller, media, { ...intake, origin, attributes }),
      };
      return await use(body, requestFile);
    } finally {
      await Promise.all([...held.values()].map((one) => one.dispose()));
      place.leave();
    }
  }

  async #read(request: FastifyRequest, intake: Intake): Promise<ReadBody> {
    const { body } = request;
    const { field, kind, held, place } = intake;
    if (!(body instanceof UnreadBody)) {
      const json = body instanceof UnreadJson ? await this.#readJson(body, intake) : objectOf(body);
      return { json, parse: (schema) => parseInput(schema, json) };
    }
    if (body.form === 'form') {
      const take = async (bytes: AsyncIterable<Buffer>, claimed: FilePart['claimed']) => {
        await place.take();
        return heldFile(await this.options.intake.takeStream(bytes, { field, ...(kind && { kind }), ...claimed }));
      };
      const parts = await readForm(body.stream, request.headers, body.limits, take, held);
      return { json: undefined, parse: (schema) => parseForm(schema, parts, field) };
    }
    await place.take();
    held.set('raw', await this.#readRaw(request, body, intake));
    return { json: undefined, parse: (schema) => parseInput(schema, { [field]: new FilePart(field, 'raw') }) };
  }

  /** JSON: a file in it that is longer than some kilobytes is spooled while the JSON arrives. */
  async #readJson(json: UnreadJson, { field, kind, held, place }: Intake): Promise<object> {
    const take = async (text: AsyncIterable<string>): Promise<string> => {
      await place.take();
      const spooled = await this.options.intake.spoolText(text, kind && { kind });
      if ('fault' in spooled && spooled.fault === 'form') return NO_MEDIA;
      const handle = randomUUID();
      held.set(handle, this.#heldText(spooled, { field, ...(kind && { kind }) }));
      return handle;
    };
    const body = objectOf(await json.read({ name: field, take }));
    const value: unknown = Reflect.get(body, field);
    const isHeld = typeof value === 'string' && held.has(value);
    return isHeld ? { ...body, [field]: new FilePart(field, value) } : body;
  }

  /** A raw body: the file itself, or a data: URI of it, which some clients send. */
  async #readRaw({ headers }: FastifyRequest, body: UnreadBody, { field, kind }: FileField): Promise<HeldFile> {
    const { intake } = this.options;
    const options = { field, ...(kind && { kind }), fileName: dispositionName(headers['content-disposition']) };
    const { head, bytes } = await peek(body.bytes());
    if (readDataUriHeader(head.toString('utf8'))) {
      return this.#heldText(await intake.spoolText(textOf(bytes), kind && { kind }), options);
    }
    const length = headers['content-length'];
    const claimedSize = length === undefined ? undefined : Number(length);
    return heldFile(await intake.takeStream(bytes, { ...options, mimeType: headers['content-type'], claimedSize }));
  }

  #heldText(
    spooled: SpooledText,
    options: { field: string; kind?: MediaKind; fileName?: string | undefined },
  ): HeldFile {
    if ('fault' in spooled) {
      return { take: () => Promise.reject(notBase64(options.field)), dispose: () => Promise.resolve() };
    }
    return {
      take: ({ mime_type: mimeType, filename }) =>
        this.options.intake.takeSpooled(spooled, { ...options, mimeType, fileName: filename ?? options.fileName }),
      dispose: () => spooled.file.dispose(),
    };
  }

  async #store(
    caller: Caller,
    media: MediaInput,
    request: Intake & { origin: 'uploaded' | 'sent'; attributes: FileAttributes },
  ): Promise<MediaFile> {
    const { field, kind, origin, attributes, held, place } = request;
    if (media.form === 'id') return this.#known(caller, media.id, field, kind);
    await place.take();
    const { mime_type: mimeType, filename: fileName } = attributes;
    const file =
      media.form === 'file'
        ? await held.get(media.handle)?.take(attributes)
        : await this.options.intake.takeInput(media, { field, mimeType, fileName, ...(kind && { kind }) });
    if (!file) throw new GatewayError(400, { details: `${field}: required` });
    try {
      const name = safeFileName(fileName);
      const named = name === undefined ? file : { ...file, fileName: withExtension(name, file.extension) };
      return await this.options.uploads.keep(caller.channel.id, named, origin);
    } finally {
      await file.dispose();
      // The command may wait for the network, and needs no place.
      place.leave();
    }
  }

  async #known(caller: Caller, id: string, field: string, kind: MediaKind | undefined): Promise<MediaFile> {
    const { stored, limits } = this.options;
    const file = await stored.obtain(caller, id);
    if (!file) throw new GatewayError(404, { details: `${field}: no such media id` });
    if (kind && file.size > limits[kind]) throw fileTooLarge(kind, limits);
    return file;
  }
}

function heldFile(file: TakenFile): HeldFile {
  return { take: () => Promise.resolve(file), dispose: () => file.dispose() };
}

/** Absent counts as `{}`, so that the answer names the first missing field. */
function objectOf(body: unknown): object {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && !Array.isArray(body)) return body;
  throw new GatewayError(400, { details: 'body: must be a JSON object' });
}

/**
 * The files customers give, in any form: taken into the spool, checked, and kept in the media store before anything else
 * is done with them, so that commands only carry ids. Whatever becomes of a request, nothing of it stays in the spool.
 *
 * The object storage away: 502, nothing was said and nothing is kept.
 */
import {
  FilePart,
  GatewayError,
  parseForm,
  parseInput,
  type FormFileField,
  type MediaInput,
  type MediaLimits,
} from '@dormouse/gateway-contract';
import { fileTooLarge, safeFileName, type MediaIntake, type MediaKind, type TakenFile } from '@dormouse/media-files';
import type { MediaFile } from '@dormouse/media-store/read';
import type { MediaUploads } from '@dormouse/media-store/uploads';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { UnreadBody } from '../body/bodies.js';
import { readForm } from './form-parts.js';
import type { SendCaller } from '../messages/sends.js';
import type { StoredFiles } from './stored-files.js';

export interface GivenFilesOptions {
  intake: Pick<MediaIntake, 'takeInput' | 'takeStream'>;
  uploads: Pick<MediaUploads, 'keep'>;
  stored: Pick<StoredFiles, 'obtain'>;
  limits: MediaLimits;
}

/** What an endpoint takes. */
export interface FileEndpoint<Schema extends z.ZodObject> {
  /** Of its JSON body; a form has the same fields. */
  schema: Schema;
  /** The field that holds the file. */
  field: FormFileField;
  /** Whose limit holds; absent: that of the kind the content shows. */
  kind?: MediaKind;
}

/** What is said beside a file. */
export interface FileWords {
  mime_type?: string | undefined;
  filename?: string | undefined;
}

/** A file given with one request. */
export interface GivenFile {
  /**
   * Sees to it that the channel has the file.
   * @param origin 'sent' files are not listed
   * @throws {GatewayError} 400, 413 or 404 naming the field; 502 when the storage is away
   */
  keep(caller: SendCaller, media: MediaInput, origin: 'uploaded' | 'sent', words: FileWords): Promise<MediaFile>;
}

export class GivenFiles {
  constructor(private readonly options: GivenFilesOptions) {}

  /**
   * Reads the body of a request and does something with it and its file.
   * @throws {GatewayError} 400 naming the field, 413 naming kind and limit before the rest of the body is read
   */
  async receive<Schema extends z.ZodObject, Result>(
    request: FastifyRequest,
    endpoint: FileEndpoint<Schema>,
    use: (body: z.output<Schema>, given: GivenFile) => Promise<Result>,
  ): Promise<Result> {
    const held = new Map<string, TakenFile>();
    try {
      const body = await this.#read(request, endpoint, held);
      const given: GivenFile = {
        keep: (caller, media, origin, words) => this.#keep(caller, media, { ...endpoint, origin, words, held }),
      };
      return await use(body, given);
    } finally {
      await Promise.all([...held.values()].map((file) => file.dispose()));
    }
  }

  async #read<Schema extends z.ZodObject>(
    request: FastifyRequest,
    { schema, field, kind }: FileEndpoint<Schema>,
    held: Map<string, TakenFile>,
  ): Promise<z.output<Schema>> {
    const { body } = request;
    const { intake } = this.options;
    const options = { field, ...(kind && { kind }) };
    if (!(body instanceof UnreadBody)) return parseInput(schema, objectOf(body));
    if (body.form === 'form') {
      const take = (bytes: AsyncIterable<Buffer>, claimed: FilePart['claimed']) =>
        intake.takeStream(bytes, { ...options, ...claimed });
      return parseForm(schema, await readForm(body.stream, request.headers, take, held), field);
    }
    const claimedSize = request.headers['content-length'];
    const mimeType = request.headers['content-type'];
    const fileName = dispositionName(request.headers['content-disposition']);
    const size = claimedSize === undefined ? undefined : Number(claimedSize);
    const file = await intake.takeStream(body.bytes(), { ...options, mimeType, fileName, claimedSize: size });
    held.set('raw', file);
    return parseInput(schema, { [field]: new FilePart(field, 'raw') });
  }

  async #keep(
    caller: SendCaller,
    media: MediaInput,
    asked: {
      field: string;
      kind?: MediaKind;
      origin: 'uploaded' | 'sent';
      words: FileWords;
      held: Map<string, TakenFile>;
    },
  ): Promise<MediaFile> {
    const { field, kind, origin, words, held } = asked;
    if (media.form === 'id') return this.#known(caller, media.id, field, kind);
    const { mime_type: mimeType, filename: fileName } = words;
    const file =
      media.form === 'file'
        ? held.get(media.handle)
        : await this.options.intake.takeInput(media, { field, mimeType, fileName, ...(kind && { kind }) });
    if (!file) throw new GatewayError(400, { details: `${field}: required` });
    try {
      const named = { ...file, fileName: safeFileName(fileName) ?? file.fileName };
      return await this.options.uploads.keep(caller.channel.id, named, origin);
    } finally {
      await file.dispose();
    }
  }

  async #known(caller: SendCaller, id: string, field: string, kind: MediaKind | undefined): Promise<MediaFile> {
    const { stored, limits } = this.options;
    const file = await stored.obtain(caller, id);
    if (!file) throw new GatewayError(404, { details: `${field}: no such media id` });
    if (kind && file.size > limits[kind]) throw fileTooLarge(kind, limits);
    return file;
  }
}

/** Absent counts as `{}`, so that the answer names the first missing field. */
function objectOf(body: unknown): unknown {
  if (body === undefined || body === null) return {};
  if (typeof body === 'object' && !Array.isArray(body)) return body;
  throw new GatewayError(400, { details: 'body: must be a JSON object' });
}

/** The name in a Content-Disposition header, whose bytes Node reads as latin1 and senders write as UTF-8. */
function dispositionName(header: string | undefined): string | undefined {
  const exact = /filename\*\s*=\s*utf-8''([^;\s]+)/i.exec(header ?? '')?.[1];
  const plain = /filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(header ?? '');
  try {
    if (exact !== undefined) return decodeURIComponent(exact);
    const name = plain?.[1] ?? plain?.[2];
    return name && new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return plain?.[1] ?? plain?.[2];
  }
}

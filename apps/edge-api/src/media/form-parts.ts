/** Reads a multipart form as it arrives: files go to the given function, texts are held in memory. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { FilePart, GatewayError, type FormPart } from '@dormouse/gateway-contract';
import busboy from 'busboy';

/** Takes in the file of a part; its result is kept under the part's handle. */
export type TakePart<Taken> = (bytes: Readable, claimed: { fileName?: string; mimeType?: string }) => Promise<Taken>;

const MAX_TEXTS = 200;
/** As long as the longest text of a JSON body. */
const MAX_TEXT_BYTES = 1024 * 1024;
/** One is accepted; a second is read only for an error that names the field. */
const MAX_FILES = 2;

/**
 * Reads the whole form, or stops at the first failure and leaves the rest unread.
 * @param taken filled while reading, so that what was taken is known when reading fails
 * @throws {GatewayError} 400 for a form that is none or ends too early; what `take` throws
 */
export async function readForm<Taken>(
  body: Readable,
  headers: IncomingHttpHeaders,
  take: TakePart<Taken>,
  taken: Map<string, Taken>,
): Promise<FormPart[]> {
  const parser = openParser(headers);
  const parts: FormPart[] = [];
  const filesRead: Promise<void>[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (details: string) => reject(new GatewayError(400, { details: `body: ${details}` }));
      parser.on('file', (field, stream, { filename, mimeType }) => {
        const claimed = { ...(filename && { fileName: unescaped(filename) }), ...(mimeType && { mimeType }) };
        const handle = randomUUID();
        stream.on('error', () => undefined);
        const fileRead = take(stream, claimed).then((file) => {
          taken.set(handle, file);
          parts.push(new FilePart(field, handle, claimed));
        });
        fileRead.catch(reject);
        filesRead.push(fileRead);
      });
      parser.on('field', (name, text, { valueTruncated }) => {
        if (valueTruncated) fail(`the part ${name.slice(0, 40)} is too long`);
        parts.push({ name, text });
      });
      for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
        parser.on(limit, () => fail('the form has too many parts'));
      parser.once('error', () => fail('not a valid form'));
      parser.once('close', resolve);
      body.once('close', () => {
        if (!body.readableEnded) fail('the form ends unexpectedly');
      });
      body.pipe(parser);
    });
    await Promise.all(filesRead);
    return parts;
  } catch (error) {
    body.unpipe(parser);
    parser.on('error', () => undefined);
    parser.destroy();
    await Promise.allSettled(filesRead);
    throw error;
  }
}

function openParser(headers: IncomingHttpHeaders): busboy.Busboy {
  const limits = { files: MAX_FILES, fields: MAX_TEXTS, fieldSize: MAX_TEXT_BYTES, parts: MAX_TEXTS + MAX_FILES };
  try {
    return busboy({ headers, limits, defParamCharset: 'utf8' });
  } catch (error) {
    throw new GatewayError(400, { details: 'body: not a valid form' }, { cause: error });
  }
}

/** A name as it was before the form: browsers write exactly these three characters so (WHATWG, multipart/form-data). */
function unescaped(name: string): string {
  return name.replace(/%(22|0D|0A)/gi, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

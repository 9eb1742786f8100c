import { z } from 'zod';
import { GatewayError } from './errors.js';
import { requireFewValues } from './form-lists.js';
import { FilePart } from './media.js';
import { parseInput } from './parse.js';

/** A part of a multipart form: a file whose bytes are set aside, or a text. */
export type FormPart = FilePart | { name: string; text: string };

/** Where multipart forms are accepted, with the field that holds the file. Everywhere else only JSON is. */
export const FORM_FILE_FIELDS = {
  'POST /messages/image': 'media',
  'POST /messages/video': 'media',
  'POST /messages/audio': 'media',
  'POST /messages/voice': 'media',
  'POST /messages/document': 'media',
  'POST /messages/sticker': 'media',
  'POST /messages/link_preview': 'media',
  'POST /media': 'media',
  'PATCH /users/profile': 'icon',
} as const;
export type FormFileField = (typeof FORM_FILE_FIELDS)[keyof typeof FORM_FILE_FIELDS];

/**
 * Validates a multipart form with the schema of the JSON body. Numbers and booleans are read from their text, lists
 * from repeated parts or from a JSON list, empty texts count as absent. The file is the part named `fileField`, or the
 * only file there is.
 * @throws {GatewayError} 400 whose details name the first offending field
 */
export function parseForm<Schema extends z.ZodObject>(
  schema: Schema,
  parts: readonly FormPart[],
  fileField: FormFileField,
): z.output<Schema> {
  const fields = new Map<string, unknown>();
  for (const [name, texts] of textsByName(parts)) {
    const field: unknown = Object.hasOwn(schema.shape, name) ? Reflect.get(schema.shape, name) : undefined;
    fields.set(name, valueOfTexts(name, field, texts));
  }
  const file = fileOf(parts, fileField);
  if (file) fields.set(fileField, file);
  return parseInput(schema, Object.fromEntries(fields));
}

function textsByName(parts: readonly FormPart[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const part of parts) {
    if (part instanceof FilePart || part.text === '') continue;
    texts.set(part.name, [...(texts.get(part.name) ?? []), part.text]);
  }
  return texts;
}

function fileOf(parts: readonly FormPart[], fileField: FormFileField): FilePart | undefined {
  const files = parts.filter((part) => part instanceof FilePart);
  const named = files.filter(({ field }) => field === fileField);
  const candidates = named.length > 0 ? named : files;
  if (candidates.length > 1) throw new GatewayError(400, { details: `${fileField}: one file per call` });
  return candidates[0];
}

/** What the texts of one field mean; what does not fit stays text, for the schema to refuse. */
function valueOfTexts(name: string, field: unknown, texts: readonly string[]): unknown {
  const schema = innermost(field);
  if (schema instanceof z.ZodArray) return texts.length === 1 ? jsonList(name, texts[0] ?? '') : texts;
  const last = texts.at(-1) ?? '';
  if (schema instanceof z.ZodNumber) return /^-?\d{1,15}(\.\d{1,15})?$/.test(last) ? Number(last) : last;
  if (schema instanceof z.ZodBoolean)
    return last === 'true' || last === '1' || (last === 'false' || last === '0' ? false : last);
  return last;
}

function jsonList(name: string, text: string): unknown[] {
  if (!/^\s*\[/.test(text)) return [text];
  requireFewValues(name, text);
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // Not JSON: the one entry of the list.
  }
  return [text];
}

/** The schema inside `optional`, `default` and what is read from it. */
function innermost(field: unknown): unknown {
  let schema = field;
  while (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPipe) {
    schema = schema instanceof z.ZodPipe ? schema.in : schema.unwrap();
  }
  return schema;
}

import { GatewayError } from '@dormouse/gateway-contract';
import type { MediaKind, SpooledFile } from '@dormouse/media-files';
import { z } from 'zod';
import { FileRefused } from './file-refused.js';

/** The kinds of message a file can be sent as. */
export type SendKind = Exclude<MediaKind, 'icon'>;

/** What preparation measured or generated for a file; it is sent in the message beside the file. */
export const preparedFacts = z.object({
  mimeType: z.string(),
  width: z.number().optional(),
  height: z.number().optional(),
  seconds: z.number().optional(),
  /** JPEG, base64. */
  thumbnail: z.string().optional(),
  /** 64 values from 0 to 100, base64. */
  waveform: z.string().optional(),
  pageCount: z.number().optional(),
  animated: z.boolean().optional(),
  /** Media id of the file converted from the customer's file, where it was converted. */
  madeId: z.string().optional(),
});
export type PreparedFacts = z.output<typeof preparedFacts>;

/** A file in the form that is uploaded. */
export interface PreparedFile {
  /** The source itself where it is sent unchanged, else a new file, which the caller has to dispose of. */
  file: SpooledFile;
  facts: PreparedFacts;
}

/** The error for a file that is not of the type it is sent as: 400 naming `media`. */
export function unusable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(400, { details: `media: ${reason}` }, { cause });
}

/** The error that the caller gets: 400 naming the field for a refused file; other errors stay as they are. */
export function refusalOf(error: unknown, field: 'media' | 'icon'): unknown {
  if (!(error instanceof FileRefused)) return error;
  return new GatewayError(400, { details: `${field}: ${error.reason}` }, { cause: error });
}

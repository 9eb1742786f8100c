import { GatewayError } from '@dormouse/gateway-contract';
import type { MediaKind, SpooledFile } from '@dormouse/media-files';
import { z } from 'zod';
import { FileRefused } from './file-refused.js';

/** The kinds of message a file can be sent as. */
export type SendKind = Exclude<MediaKind, 'icon'>;

/** What preparation found out about a file or made for it; goes into the message beside the file. */
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
  /** Media id of the file that was made of the customer's, where it could not pass unchanged. */
  madeId: z.string().optional(),
});
export type PreparedFacts = z.output<typeof preparedFacts>;

/** A file in the form the network gets. */
export interface PreparedFile {
  /** The file itself where it passes unchanged, else a new one that whoever holds this disposes of. */
  file: SpooledFile;
  facts: PreparedFacts;
}

/** The refusal of a file that is not what it is sent as: 400 naming `media`. */
export function unusable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(400, { details: `media: ${reason}` }, { cause });
}

/** What a caller is told of a failure: a file that was refused is its own fault, and the reason names the field. */
export function refusalOf(error: unknown, field: 'media' | 'icon'): unknown {
  if (!(error instanceof FileRefused)) return error;
  return new GatewayError(400, { details: `${field}: ${error.reason}` }, { cause: error });
}

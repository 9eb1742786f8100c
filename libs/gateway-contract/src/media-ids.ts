/**
 * Ids of files that came with messages: `<extension>-<hexadecimal of the segments of the message's id>`. Each id can be
 * computed from the other, so a file needs no row of its own before its bytes are requested.
 */
import { MESSAGE_ID_PATTERN } from './ids.js';

const MEDIA_OF_MESSAGE = /^[A-Za-z0-9]{1,16}((?:-(?:[0-9a-f]{2})+)+)$/;

/**
 * The media id of a message's file.
 * @param extension letters and digits
 */
export function toMediaId(extension: string, messageId: string): string {
  const segments = messageId
    .split('-')
    .map((segment) => Buffer.from(segment.replaceAll('.', '+').replaceAll('_', '/'), 'base64').toString('hex'));
  return [extension, ...segments].join('-');
}

/** The id of the message that a file of this id came with; undefined when no message can have such a file. */
export function messageIdOfMedia(mediaId: string): string | undefined {
  const segments = MEDIA_OF_MESSAGE.exec(mediaId)?.[1]?.slice(1).split('-');
  if (!segments) return undefined;
  const id = segments
    .map((hex) => Buffer.from(hex, 'hex').toString('base64').replace(/=+$/, ''))
    .map((segment) => segment.replaceAll('+', '.').replaceAll('/', '_'))
    .join('-');
  return MESSAGE_ID_PATTERN.test(id) ? id : undefined;
}

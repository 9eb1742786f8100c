/**
 * The media id of a message's file: `<extension>-<hexadecimal of the segments of the message's id>`.
 * @param extension letters and digits
 */
export function toMediaId(extension: string, messageId: string): string {
  const segments = messageId
    .split('-')
    .map((segment) => Buffer.from(segment.replaceAll('.', '+').replaceAll('_', '/'), 'base64').toString('hex'));
  return [extension, ...segments].join('-');
}

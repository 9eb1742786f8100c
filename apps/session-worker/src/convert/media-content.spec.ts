import type { proto } from '@whiskeysockets/baileys';
import { shownMessage } from './test-messages.js';
import { documentContent, imageContent } from './media-content.js';

const mediaId = (extension: string) => `${extension}-00`;

describe('the facts of a file as its sender states them', () => {
  it.each([
    ['../../../etc/passwd\u202egnp.exe', 'passwdgnp.exe'],
    ['C:\\x\\report.pdf', 'report.pdf'],
    ['a\u0000b\r\n.pdf', 'ab.pdf'],
    ['отчёт "v2": <итог>?.pdf', 'отчёт "v2": <итог>?.pdf'],
    ['..', undefined],
  ])('is shown with a name that is safe to save under: %j', (fileName, name) => {
    const shown = documentContent({ fileName, mimetype: 'application/pdf' }, mediaId);
    expect([shown.file_name, shown.filename]).toEqual([name, name]);
  });

  it.each(['text/html\r\nX: y', 'application/\u0000', 'x', 'text/html; é=1'])(
    'is shown with a type that a header can hold (%j)',
    (mimetype) => {
      expect(documentContent({ mimetype }, mediaId)).toMatchObject({
        id: 'bin-00',
        mime_type: 'application/octet-stream',
      });
      expect(imageContent({ mimetype }, mediaId)).toMatchObject({ id: 'jpeg-00', mime_type: 'image/jpeg' });
    },
  );
});

describe('the time of a file', () => {
  const FILES: [string, proto.IMessage][] = [
    ['image', { imageMessage: {} }],
    ['video', { videoMessage: {} }],
    ['short', { ptvMessage: {} }],
    ['voice', { audioMessage: { ptt: true } }],
    ['document', { documentMessage: {} }],
    ['sticker', { stickerMessage: {} }],
  ];
  const withTime = (message: proto.IMessage, mediaKeyTimestamp?: number): proto.IMessage =>
    Object.fromEntries(
      Object.entries(message).map(([name, part]) => [name, { ...(part as object), mediaKeyTimestamp }]),
    );

  it.each(FILES)('is that of its upload, where the sender names it: %s', (type, message) => {
    expect(shownMessage(withTime(message, 1_789_999_000))?.[type]).toMatchObject({ timestamp: 1_789_999_000 });
    expect(shownMessage(withTime(message))?.[type]).not.toHaveProperty('timestamp');
    expect(shownMessage(withTime(message, 0))?.[type]).not.toHaveProperty('timestamp');
  });
});

import { proto } from '@whiskeysockets/baileys';
import { receivedFile } from './received-file.js';
import { mediaMessage } from './media-message.js';
import type { NetworkFile } from './outgoing.js';
import type { SendKind } from './prepared-file.js';

function file(kind: SendKind, facts: Partial<NetworkFile['facts']> = {}): NetworkFile {
  return {
    kind,
    facts: { mimeType: 'image/jpeg', ...facts },
    copy: {
      directPath: '/v/1',
      url: 'https://mmg.whatsapp.net/v/1',
      mediaKey: Buffer.alloc(32, 1),
      fileSha256: Buffer.alloc(32, 2),
      fileEncSha256: Buffer.alloc(32, 3),
      fileLength: 5_000_000_000,
      prepared: {},
      uploadedAtMs: 1_790_000_000_500,
    },
  };
}

/** As it arrives: through the network's own encoding. */
const sent = (message: proto.IMessage) => proto.Message.decode(proto.Message.encode(message).finish());

describe('mediaMessage', () => {
  it.each(['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const)(
    'points a receiver of %s to the file',
    (kind) => {
      expect(receivedFile(sent(mediaMessage(file(kind), { fileName: 'a.pdf', caption: 'c' })))).toEqual({
        kind,
        place: { directPath: '/v/1', url: 'https://mmg.whatsapp.net/v/1' },
        mediaKey: Buffer.alloc(32, 1),
        fileSha256: Buffer.alloc(32, 2),
        fileLength: 5_000_000_000,
        mimeType: 'image/jpeg',
        fileName: kind === 'document' ? 'a.pdf' : undefined,
      });
    },
  );

  it('prefers the values of the request to measured ones', () => {
    const measured = file('voice', { seconds: 3, waveform: Buffer.alloc(64, 9).toString('base64') });
    expect(sent(mediaMessage(measured)).audioMessage).toMatchObject({
      seconds: 3,
      ptt: true,
      mediaKeyTimestamp: expect.anything(),
    });
    expect(sent(mediaMessage(measured, { seconds: 12 })).audioMessage).toMatchObject({ seconds: 12 });
    expect([...(sent(mediaMessage(measured)).audioMessage?.waveform ?? [])]).toEqual(Array(64).fill(9));
  });

  it('wraps a view-once picture, and a document with a caption', () => {
    const once = sent(mediaMessage(file('image'), { viewOnce: true }));
    expect(once.viewOnceMessage?.message?.imageMessage?.viewOnce).toBe(true);
    const document = sent(mediaMessage(file('document'), { caption: 'March', fileName: 'r.pdf' }));
    expect(document.documentWithCaptionMessage?.message?.documentMessage).toMatchObject({
      caption: 'March',
      fileName: 'r.pdf',
    });
    expect(sent(mediaMessage(file('document'))).documentMessage?.fileName).toBe('file');
  });

  it('marks animated stickers', () => {
    expect(sent(mediaMessage(file('sticker', { animated: true, width: 512 }))).stickerMessage).toMatchObject({
      isAnimated: true,
      width: 512,
    });
  });
});

describe('receivedFile', () => {
  it('finds none in messages without a file or without its key', () => {
    expect(receivedFile({ conversation: 'hello' })).toBeUndefined();
    expect(receivedFile({ imageMessage: { url: 'https://mmg.whatsapp.net/v/1' } })).toBeUndefined();
    expect(receivedFile(undefined)).toBeUndefined();
  });

  it('drops the directories of a file name', () => {
    const documentMessage = { mediaKey: Buffer.alloc(32), fileName: '../../etc/passwd' };
    expect(receivedFile({ documentMessage })?.fileName).toBe('passwd');
  });
});

import type { StoredMessage } from '@dormouse/message-store/write';
import type { proto } from '@whiskeysockets/baileys';
import { betterCopyFromNetwork } from './better-copy.js';
import { messageFromNetwork } from './message-from-network.js';
import { received, people } from './test-messages.js';

const file = { mimetype: 'image/jpeg', caption: 'receipt', fileLength: 7, fileSha256: Buffer.alloc(32, 1) };
const first = messageFromNetwork(
  received({ imageMessage: { ...file, width: 900 } }, { id: 'A5C3000000000001' }),
  people,
);
const stored = (fields: Partial<StoredMessage['message']> = {}): StoredMessage | undefined =>
  first && { message: { ...first.message, ...fields }, key: first.key };
const copy = (
  associationType: number,
  content: proto.IMessage = { imageMessage: { ...file, width: 2250, fileLength: 70 } },
) =>
  received({
    messageContextInfo: {
      messageAssociation: { associationType, parentMessageKey: { fromMe: true, id: 'A5C3000000000001' } },
    },
    associatedChildMessage: { message: content },
  });

describe('the better copy of a file', () => {
  it.each([10, 5, 19])('takes the place of the first one: association %i', (association) => {
    const addition = betterCopyFromNetwork(copy(association), people);
    expect(addition?.target).toEqual({ keyId: 'A5C3000000000001', chatId: '15550001111@s.whatsapp.net' });
    const image = { ...first?.message.image, link: 'https://files.example/first' };
    const known = stored({ image: image as NonNullable<typeof first>['message']['image'] & object });
    const { action, record } = addition?.read(known) ?? {};
    expect(record).toBeUndefined();
    expect(action?.trigger.message).toMatchObject({
      type: 'action',
      action: { type: 'edit', target: first?.message.id, edited_type: 'image', edited_content: { width: 2250 } },
    });
    expect(action?.trigger.message.image).toBeUndefined();
    const after = known && action?.change?.apply(known.message);
    expect(after?.image).toMatchObject({ caption: 'receipt', width: 2250, file_size: 70 });
    expect(after?.image?.id).not.toBe(image.id);
    expect(after?.image?.link).toBeUndefined();
  });

  it('is fetched as the file of the first message', () => {
    const read = betterCopyFromNetwork(copy(10), people)?.read(stored());
    expect(read?.file?.message).toMatchObject({ id: first?.message.id, type: 'image', image: { width: 2250 } });
    expect(read?.file?.key.id).toBe('A5C30000000000000000000000005000');
    const after = first && read?.action?.change?.apply(first.message);
    expect(after?.image?.id).toBe(read?.file?.message.image?.id);
  });

  it('takes the place of a first message that is not there yet, and is not read again from it', () => {
    const addition = betterCopyFromNetwork(copy(10), people);
    const { record } = addition?.read(undefined) ?? {};
    expect(record).toMatchObject({
      message: { id: first?.message.id, type: 'image', image: { width: 2250 } },
      key: first?.key,
    });
    const kept = record?.proto && { message: record.message, key: record.key, proto: Buffer.from(record.proto) };
    expect(addition?.read(kept)).toBeUndefined();
  });

  it('is a message of its own where the first one is of another kind or another author', () => {
    const addition = betterCopyFromNetwork(copy(10), people);
    for (const known of [stored({ type: 'video' }), stored({ from: '15550002222' })]) {
      expect(addition?.read(known)).toMatchObject({ record: { message: { type: 'image', image: { width: 2250 } } } });
    }
  });

  it('is none in an album or any other association', () => {
    expect(betterCopyFromNetwork(copy(1), people)).toBeUndefined();
    expect(betterCopyFromNetwork(received({ imageMessage: file }), people)).toBeUndefined();
  });
});

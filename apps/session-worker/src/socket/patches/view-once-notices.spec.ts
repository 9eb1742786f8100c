import { EventEmitter } from 'node:events';
import { decryptMessageNode, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import { keepViewOnceNotices } from './view-once-notices.js';

const message = (type: string): BinaryNode => ({
  tag: 'message',
  attrs: { id: 'A1', from: '15550001111@s.whatsapp.net', t: '1', type: 'media' },
  content: [{ tag: 'unavailable', attrs: { type } }],
});

/** The message as the library reads it after the listeners had it. */
async function read(node: BinaryNode) {
  const ws: unknown = new EventEmitter();
  const socket = { ws: ws as WASocket['ws'] };
  keepViewOnceNotices(socket);
  socket.ws.emit('CB:message', node);
  const repository = {} as WASocket['signalRepository'];
  const { fullMessage, decrypt } = decryptMessageNode(node, '15550009999@s.whatsapp.net', '', repository, {} as never);
  await decrypt();
  return fullMessage;
}

describe('notices of what can be seen once', () => {
  it.each(['view_once', 'view_once_unavailable_fanout'])(
    'are handed on, whatever they are called: %s',
    async (type) => {
      const notice = await read(message(type));
      expect(notice.key.isViewOnce).toBe(true);
      expect(notice.messageStubType).toBeUndefined();
    },
  );

  it('are no others: what the phone can fill in stays a placeholder', async () => {
    const placeholder = await read(message('hosted_unavailable_fanout'));
    expect(placeholder.key.isViewOnce).toBeUndefined();
    expect(placeholder.messageStubType).toBeDefined();
  });
});

import { EventEmitter } from 'node:events';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { PlayedReceipts } from './played-receipts.js';

const GROUP = '120363000000000001@g.us';

function watched() {
  const ws = new EventEmitter();
  const played = new PlayedReceipts();
  played.watch({ ws: ws as WASocket['ws'] });
  const receive = (attrs: BinaryNode['attrs'], content?: BinaryNode['content']): void => {
    ws.emit('CB:receipt', { tag: 'receipt', attrs: { from: GROUP, ...attrs }, ...(content && { content }) });
  };
  return { played, receive };
}

describe('receipts of groups', () => {
  it('are known as played once, each of several, by the person without the device', () => {
    const { played, receive } = watched();
    const items = ['B', 'C'].map((id) => ({ tag: 'item', attrs: { id } }));
    receive({ type: 'played', id: 'A', participant: '900000000001:7@lid' }, [
      { tag: 'list', attrs: {}, content: items },
    ]);
    expect(['A', 'B', 'C'].map((id) => played.take({ id }, '900000000001@lid'))).toEqual([true, true, true]);
    expect(played.take({ id: 'A' }, '900000000001@lid')).toBe(false);
  });

  it('are not when they are of delivery or of reading, or by somebody else', () => {
    const { played, receive } = watched();
    receive({ id: 'A', participant: '900000000001@lid' });
    receive({ type: 'read', id: 'A', participant: '900000000001@lid' });
    receive({ type: 'played', id: 'A', participant: '900000000002@lid' });
    expect(played.take({ id: 'A' }, '900000000001@lid')).toBe(false);
  });

  it('do not gather without end when nobody takes them', () => {
    const { played, receive } = watched();
    for (let count = 0; count <= 1_000; count += 1) {
      receive({ type: 'played', id: `A${count}`, participant: '900000000001@lid' });
    }
    expect(['A0', 'A1', 'A1000'].map((id) => played.take({ id }, '900000000001@lid'))).toEqual([false, true, true]);
  });
});

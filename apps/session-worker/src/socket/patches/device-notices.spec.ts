import { EventEmitter } from 'node:events';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { correctBothDeviceLists } from './device-notices.js';

const NUMBER = '15550001111:3@s.whatsapp.net';
const LID = '900000000001:3@lid';

/** The addresses that the library reads of a notice, after the listeners had it. */
function read(tag: string, type = 'devices'): string[] {
  const ws: unknown = new EventEmitter();
  const socket = { ws: ws as WASocket['ws'] };
  correctBothDeviceLists(socket);
  const device = { tag: 'device', attrs: { jid: NUMBER, lid: LID, 'key-index': '3' } };
  const keys = { tag: 'key-index-list', attrs: { ts: '1' } };
  const content: BinaryNode[] = [device, keys];
  const change: BinaryNode = { tag, attrs: {}, content };
  socket.ws.emit('CB:notification', { tag: 'notification', attrs: { type }, content: [change] });
  return (change.content as BinaryNode[]).flatMap(({ tag: name, attrs }) =>
    name === 'device' ? [attrs['jid'] ?? ''] : [],
  );
}

describe('the notice of a device', () => {
  it.each(['add', 'remove'])('concerns the lists of both addresses: %s', (tag) => {
    expect(read(tag)).toEqual([NUMBER, LID]);
  });

  it('is the only kind of notice that is changed', () => {
    expect(read('add', 'account_sync')).toEqual([NUMBER]);
  });
});

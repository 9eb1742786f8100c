import { EventEmitter } from 'node:events';
import type { BinaryNode, SignalDataSet, WAMessage, WASocket } from '@whiskeysockets/baileys';
import { JOURNAL } from '../auth-state/auth-state.js';
import { InboundJournal } from './inbound-journal.js';
import type { NetworkAuthState } from './key-format.js';
import { keepViewOnceNotices } from './patches/view-once-notices.js';

const notice = (type: string): BinaryNode => ({
  tag: 'message',
  attrs: { id: 'A1', from: '15550001111@s.whatsapp.net', t: '1790000000', type: 'media', notify: 'Ada' },
  content: [{ tag: 'unavailable', attrs: { type } }],
});

/** The journal of one socket over rows that outlive it. */
function socketOver(rows: Map<string, unknown>) {
  const auth: unknown = {
    creds: { me: { id: '15550009999:7@s.whatsapp.net' } },
    keys: {
      set: (data: SignalDataSet) => {
        const [written] = Object.entries(data).flatMap(([type, entries]) => (type === JOURNAL ? [entries] : []));
        for (const [id, entry] of Object.entries(written ?? {}))
          if (entry === null) rows.delete(id);
          else rows.set(id, JSON.parse(JSON.stringify(entry)));
        return Promise.resolve();
      },
    },
    readAll: () => Promise.resolve(rows),
  };
  const received: WAMessage[] = [];
  const socket: unknown = {
    ws: new EventEmitter(),
    ev: { flush: () => undefined },
    signalRepository: {},
    upsertMessage: (message: WAMessage) => Promise.resolve(void received.push(message)),
  };
  const journal = new InboundJournal(auth as NetworkAuthState, () => 1_790_000_000_000);
  return { journal, socket: socket as WASocket, received };
}

describe('InboundJournal', () => {
  it.each(['view_once', 'view_once_unavailable_fanout'])(
    'writes a notice of what can be seen once before anything is sent, and hands it over to the next socket: %s',
    async (type) => {
      const rows = new Map<string, unknown>();
      const first = socketOver(rows);
      const held: Promise<void>[] = [];
      first.journal.watch(first.socket, (write) => held.push(write));
      keepViewOnceNotices(first.socket);
      first.socket.ws.emit('CB:message', notice(type));
      expect(held).toHaveLength(1);
      await held[0];
      expect(rows.size).toBe(1);
      const next = socketOver(rows);
      await next.journal.replay(next.socket);
      expect(next.received).toMatchObject([{ key: { id: 'A1', isViewOnce: true }, pushName: 'Ada' }]);
      next.journal.settled(next.received);
      await next.journal.flush();
      expect(rows.size).toBe(0);
    },
  );

  it('holds nothing back for messages that are decrypted, nor for placeholders that the phone fills', () => {
    const { journal, socket } = socketOver(new Map());
    const held: Promise<void>[] = [];
    journal.watch(socket, (write) => held.push(write));
    const encrypted = { tag: 'enc', attrs: { type: 'msg' }, content: new Uint8Array([1]) };
    socket.ws.emit('CB:message', { ...notice('hosted_unavailable_fanout') });
    socket.ws.emit('CB:message', { ...notice('view_once'), content: [encrypted] });
    expect(held).toEqual([]);
  });
});

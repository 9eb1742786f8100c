import { setTimeout as delay } from 'node:timers/promises';
import { makeEventBuffer, proto, type WAMessage } from '@whiskeysockets/baileys';
import { chatMomentIn, ChatMoments, clearedChatIn, emitCleared } from './shared-state-changes.js';
import { libraryLog } from '../library-log.js';

const JID = '15550001111@s.whatsapp.net';

function change(action: proto.ISyncActionValue, index: string[], initialSync = false) {
  const value = proto.SyncActionValue.decode(proto.SyncActionValue.encode(action).finish());
  return { syncAction: { syncAction: { value }, index }, initialSync };
}

describe('clearedChatIn', () => {
  const clearing = { clearChatAction: { messageRange: { lastMessageTimestamp: 1_790_000_000, messages: [] } } };
  const index = ['clearChat', JID, '1', '0'];

  it('finds the chat and the moment up to which it was cleared', () => {
    expect(clearedChatIn(change(clearing, index))).toEqual({ jid: JID, all: true, untilS: 1_790_000_000 });
    expect(clearedChatIn(change({ clearChatAction: {} }, index))).toEqual({ jid: JID, all: true });
  });

  it.each([
    ['what a new device receives', change(clearing, index, true)],
    ['a chat that was deleted', change({ deleteChatAction: {} }, ['deleteChat', JID, '1'])],
    ['a clearing that was taken back', change({}, index)],
    ['anything else', { node: 'x' }],
    ['nothing', undefined],
  ])('is not taken in by %s', (_what, facts) => expect(clearedChatIn(facts)).toBeUndefined());
});

describe('chatMomentIn', () => {
  const messageRange = { lastMessageTimestamp: 1_790_000_000, messages: [] };
  const read = ['markChatAsRead', JID];

  it.each([
    ['was read', change({ markChatAsReadAction: { read: true, messageRange } }, read), 'read'],
    ['was deleted', change({ deleteChatAction: { messageRange } }, ['deleteChat', JID, '1']), 'deleted'],
  ] as const)('finds up to when a chat %s, also of what comes again', (_what, facts, kind) => {
    expect(chatMomentIn(facts)).toEqual({ kind, jid: JID, untilS: 1_790_000_000 });
  });

  it('takes the time of the change where no message is named', () => {
    const facts = change({ markChatAsReadAction: { read: true }, timestamp: 1_790_000_123_456 }, read);
    const moments = new ChatMoments();
    const moment = chatMomentIn(facts);
    if (moment) moments.note(moment);
    expect([moments.until('read', JID), moments.until('deleted', JID)]).toEqual([1_790_000_123, undefined]);
  });

  it.each([
    ['a chat that was marked as unread', change({ markChatAsReadAction: { read: false, messageRange } }, read)],
    ['a change without any time', change({ markChatAsReadAction: { read: true } }, read)],
    ['anything else', { node: 'x' }],
  ])('is not taken in by %s', (_what, facts) => expect(chatMomentIn(facts)).toBeUndefined());
});

describe('emitCleared', () => {
  it('is emitted after what came before, and holds back nothing of what comes after', async () => {
    const ev = makeEventBuffer(libraryLog({ debug: () => undefined }));
    const received: string[] = [];
    const next = () => new Promise<void>((resolve) => ev.on('messages.upsert', () => resolve()));
    ev.process((events) => void received.push(...Object.keys(events)));
    const emit = () =>
      ev.emit('messages.upsert', { type: 'notify', messages: [{ key: { id: '1', remoteJid: JID } } as WAMessage] });
    await ev.createBufferedFunction(async () => {
      emit();
      emitCleared(ev, { jid: JID, all: true });
      return Promise.resolve();
    })();
    await delay(150); // the library's own timer, which a flush at the wrong time leaves dead
    const after = next();
    await ev.createBufferedFunction(async () => Promise.resolve(emit()))();
    await after;
    expect(received).toEqual(['messages.upsert', 'messages.delete', 'messages.upsert']);
    ev.destroy();
  });
});

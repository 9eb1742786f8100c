import { FOREVER_MS, chatFromHistory, chatFromUpdate } from './chat.js';
import { contactFromNetwork } from './contact.js';

const ADA = '15550001111@s.whatsapp.net';
const numbers = new Map([['900000000001', '15550001111']]);

describe('chats', () => {
  it('takes name, activity, unread and states from the history', () => {
    expect(
      chatFromHistory(
        {
          id: '900000000001@lid',
          name: 'Ada',
          conversationTimestamp: 1_790_000_000,
          unreadCount: 2,
          pinned: 5,
          archived: true,
          muteEndTime: 1_790_003_600,
        },
        numbers,
      ),
    ).toEqual({
      id: ADA,
      name: 'Ada',
      timestamp: 1_790_000_000,
      unread: 2,
      pinned: true,
      archived: true,
      muteUntilMs: 1_790_003_600_000,
    });
    expect(chatFromHistory({ id: ADA, muteEndTime: 2 ** 64 }, numbers)?.muteUntilMs).toBe(FOREVER_MS);
    expect(chatFromHistory({ id: '900000000007@lid', pnJid: ADA }, new Map())?.id).toBe(ADA);
    expect(chatFromHistory({ id: 'status@broadcast' }, numbers)).toBeUndefined();
  });

  it('takes states from updates, but no steps of unread', () => {
    expect(chatFromUpdate({ id: ADA, unreadCount: 1, conversationTimestamp: 7 }, numbers)).toBeUndefined();
    expect(chatFromUpdate({ id: ADA, unreadCount: 0 }, numbers)).toEqual({ id: ADA, unread: 0 });
    expect(chatFromUpdate({ id: ADA, muteEndTime: null, pinned: null, archived: false }, numbers)).toEqual({
      id: ADA,
      muteUntilMs: 0,
      pinned: false,
      archived: false,
    });
    expect(chatFromUpdate({ id: '120363000000000001@g.us', muteEndTime: -1 }, numbers)?.muteUntilMs).toBeGreaterThan(
      1e14,
    );
  });
});

describe('contacts', () => {
  it('goes by number where one is known, and keeps the LID beside it', () => {
    const expected = { id: '15550001111', name: 'Ada', pushName: 'ada!', lid: '900000000001' };
    expect(
      contactFromNetwork({ id: '900000000001@lid', phoneNumber: ADA, name: 'Ada', notify: 'ada!' }, new Map()),
    ).toEqual(expected);
    expect(contactFromNetwork({ id: ADA, lid: '900000000001@lid', name: 'Ada', notify: 'ada!' }, new Map())).toEqual(
      expected,
    );
    expect(contactFromNetwork({ id: '900000000001@lid', name: 'Ada', notify: 'ada!' }, numbers)).toEqual(expected);
    expect(contactFromNetwork({ id: '900000000007@lid', notify: 'x' }, numbers)?.id).toBe('900000000007@lid');
  });

  it('is nothing without a person or without news', () => {
    expect(contactFromNetwork({ id: ADA, imgUrl: 'changed' }, numbers)).toBeUndefined();
    expect(contactFromNetwork({ id: '120363000000000001@g.us', name: 'Group' }, numbers)).toBeUndefined();
  });
});

import { storable } from '@dormouse/database';
import { storableChat, storableId, storableMessage, storableReport } from './storable-records.js';

describe('storableId', () => {
  it('leaves an id alone that can be stored', () => {
    for (const id of ['3EB0C431C26A1916E07E', '15550001111@s.whatsapp.net', '', 'é'.repeat(250)]) {
      expect(storableId(id)).toBe(id);
    }
  });

  it('makes long and strange ones fit, alike each time and different for different ids', () => {
    const long = 'x'.repeat(5_000);
    expect(Buffer.byteLength(storableId('\u2028'.repeat(5_000)))).toBeLessThanOrEqual(750);
    expect(storableId(long)).toBe(storableId(long));
    expect(storableId(long)).not.toBe(storableId(`${long}y`));
    expect(storableId('a\u0000b')).toBe('a\uFFFDb');
    const cut = storableId(`${'x'.repeat(179)}${'😀'.repeat(200)}`);
    expect(storable(cut)).toBe(cut);
  });
});

describe('storable records', () => {
  it.each([Number.NaN, Infinity, -Infinity, -1, 1e300, 2 ** 63, 1.5])('hold a moment of %s', (moment) => {
    const key = { id: 'k', remote: 'r' };
    const { message } = storableMessage({
      message: {
        id: 'i',
        type: 'text',
        chat_id: 'c',
        from_me: false,
        source: 'api',
        timestamp: moment,
        device_id: moment,
      },
      key,
    });
    const { timestamp, unread, muteUntilMs } = storableChat({
      id: 'c',
      timestamp: moment,
      unread: moment,
      muteUntilMs: moment,
    });
    const report = storableReport({ keyId: 'k', status: 'read', timestamp: moment });
    const moments = [message.timestamp, timestamp, muteUntilMs, report.timestamp];
    expect(moments.every((each) => Number.isSafeInteger(each) && Number(each) >= 0)).toBe(true);
    expect([message.device_id, unread].every((each) => Number(each) >= 0 && Number(each) < 2 ** 31)).toBe(true);
  });
});

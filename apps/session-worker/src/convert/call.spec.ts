import type { WACallEvent } from '@whiskeysockets/baileys';
import { callFromNetwork } from './call.js';

const people = { own: { phone: '15550009999' }, numbers: new Map([['900000000001', '15550001111']]) };
const received: WACallEvent = {
  id: 'CALL1',
  chatId: '900000000001@lid',
  from: '900000000001:3@lid',
  date: new Date(1_790_000_000_000),
  status: 'offer',
  isVideo: true,
  offline: false,
};

describe('callFromNetwork', () => {
  it('names the caller by number and the time in milliseconds', () => {
    expect(callFromNetwork(received, people, false)).toEqual({
      id: 'CALL1',
      from: '15550001111@s.whatsapp.net',
      chat_id: '15550001111@s.whatsapp.net',
      status: 'initiated',
      timestamp: 1_790_000_000_000,
      group_call: false,
      video_call: true,
      offline_call: false,
    });
  });

  it('takes the number that comes with the call, and the group of a group call', () => {
    const call = {
      ...received,
      from: '9@lid',
      callerPn: '15550002222@s.whatsapp.net',
      isGroup: true,
      groupJid: '1-2@g.us',
    };
    expect(callFromNetwork(call, people, false)).toMatchObject({
      from: '15550002222@s.whatsapp.net',
      chat_id: '1-2@g.us',
      group_call: true,
    });
  });

  it('reports a call that ended unanswered as missed, and not the end of an answered one', () => {
    expect(callFromNetwork({ ...received, status: 'terminate' }, people, false)?.status).toBe('missed');
    expect(callFromNetwork({ ...received, status: 'terminate' }, people, true)).toBeUndefined();
    expect(callFromNetwork({ ...received, status: 'timeout' }, people, false)?.status).toBe('missed');
    expect(callFromNetwork({ ...received, status: 'reject' }, people, false)?.status).toBe('canceled');
    expect(callFromNetwork({ ...received, status: 'relaylatency' }, people, false)).toBeUndefined();
  });
});

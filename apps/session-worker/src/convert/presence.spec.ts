import { presencesFromNetwork } from './presence.js';

const people = {
  own: { phone: '15550009999', lid: '900000000009' },
  numbers: new Map([['900000000001', '15550001111']]),
};
const from = (jid: string, lastKnownPresence: 'available' | 'unavailable' | 'composing' | 'recording' | 'paused') => ({
  id: jid,
  presences: { [jid]: { lastKnownPresence } },
});

describe('presencesFromNetwork', () => {
  it.each([
    ['available', 'online'],
    ['unavailable', 'offline'],
    ['composing', 'typing'],
    ['recording', 'recording'],
    ['paused', 'online'],
  ] as const)('reports %s as %s, by number', (received, status) => {
    expect(presencesFromNetwork(from('900000000001@lid', received), people, [])).toEqual([
      { contact_id: '15550001111', status },
    ]);
  });

  it('reports when a person was last online', () => {
    const jid = '15550001111@s.whatsapp.net';
    const update = {
      id: jid,
      presences: { [jid]: { lastKnownPresence: 'unavailable' as const, lastSeen: 1_790_000_000 } },
    };
    expect(presencesFromNetwork(update, people, [])).toMatchObject([{ status: 'offline', last_seen: 1_790_000_000 }]);
  });

  it('leaves out ignored chats and the channel itself', () => {
    expect(presencesFromNetwork(from('900000000001@lid', 'available'), people, ['15550001111@s.whatsapp.net'])).toEqual(
      [],
    );
    expect(presencesFromNetwork(from('900000000009@lid', 'available'), people, [])).toEqual([]);
  });
});

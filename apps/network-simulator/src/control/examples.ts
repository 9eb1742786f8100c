const ALICE = '6591110001';
const BOB = '6591110002';
const GROUP = '120363000000000001@g.us';

/** A body that each call accepts, by method and path; several where one does not show enough. */
export const examples: Record<string, readonly unknown[]> = {
  'POST /phones': [{ phone: ALICE, name: 'Alice' }, {}],
  'POST /phones/:phone/change-number': [{ phone: '6591110009' }],
  'POST /phones/:phone/scan': [{ qr: '2@…,…,…,…' }],
  'POST /phones/:phone/link-code': [{ code: 'ABCD-EFGH' }],
  'POST /phones/:phone/settings': [{ autoDeliver: false }],
  'POST /phones/:phone/devices/:device/nudge': [{ what: 'pre-keys-low' }],
  'POST /phones/:phone/devices/:device/stanzas': [
    { stanza: { tag: 'presence', attrs: { from: `${BOB}@s.whatsapp.net` } }, queued: false },
  ],
  'POST /phones/:phone/stanzas': [
    { tag: 'chatstate', attrs: { to: `${BOB}@s.whatsapp.net` }, content: [{ tag: 'composing' }] },
  ],
  'POST /admin/mock-phone/scan-qr': ['2@…,…,…,…'],
  'POST /phones/:phone/messages': [
    { to: BOB, text: 'hello' },
    { to: BOB, document: { base64: 'aGVsbG8=', mimetype: 'text/plain', fileName: 'hello.txt' } },
    { to: BOB, poll: { name: 'Lunch?', options: ['Rice', 'Noodles'], form: 5 } },
    {
      to: BOB,
      template: { body: 'On its way', buttons: [{ type: 'url', text: 'Track', url: 'https://shop.example/1' }] },
    },
    { to: BOB, message: { botInvokeMessage: { message: { conversation: 'as JSON' } } } },
  ],
  'POST /phones/:phone/messages/wait': [{ text: 'hello', timeoutMs: 5000 }],
  'POST /phones/:phone/read': [{ chat: BOB }],
  'POST /phones/:phone/play': [{ chat: BOB }],
  'POST /phones/:phone/ask-again': [{ id: '3A0123456789', of: BOB, device: 0 }],
  'POST /phones/:phone/events/wait': [{ kind: 'typing', timeoutMs: 5000 }],
  'POST /phones/:phone/chats': [{ chat: BOB, archived: true }],
  'POST /phones/:phone/contacts': [{ who: BOB, name: 'Bob from work' }],
  'POST /phones/:phone/history': [{ chats: [BOB], messagesPerChat: 10 }],
  'POST /phones/:phone/profile': [{ name: 'Alice', about: 'At work' }],
  'POST /phones/:phone/picture': [{ base64: '/9j/4AAQ' }, { base64: null }],
  'POST /phones/:phone/privacy': [{ last: 'none' }],
  'POST /phones/:phone/block': [{ who: BOB, blocked: true }],
  'POST /phones/:phone/presence': [{ available: true }],
  'POST /phones/:phone/typing': [{ to: BOB, state: 'composing' }],
  'POST /phones/:phone/calls': [{ to: BOB, video: false }],
  'POST /phones/:phone/groups': [{ subject: 'Lunch', members: [BOB] }],
  'PATCH /phones/:phone/groups/:group': [{ subject: 'Dinner', ephemeralSeconds: 86_400 }],
  'POST /phones/:phone/groups/:group/members': [{ action: 'promote', members: [BOB] }],
  'POST /phones/:phone/groups/:group/requests': [{ action: 'approve', members: [BOB] }],
  'POST /phones/:phone/join': [{ code: 'AbCdEfGhIjKlMnOpQrStUv' }, { code: 'AbCdEfGhIjKlMnOpQrStUv', group: GROUP }],
  'POST /clock': [{ seconds: 86_400 }, { at: '2030-01-01T00:00:00Z', phonesUsed: true }],
  'POST /faults': [
    { kind: 'refuse-send', phone: ALICE, code: 479 },
    { kind: 'delay', ms: 200, jitterMs: 100 },
    { kind: 'drop', phone: ALICE, code: 503 },
  ],
  'POST /limits': [{ groupQueriesPerMinute: 10 }],
};

import { conversationOf } from './conversation.js';

const chat = '15550001111@s.whatsapp.net';
const group = '120363000000000001@g.us';

describe('conversationOf', () => {
  it.each([
    ['messages.post', { messages: [{ id: 'a', chat_id: chat }] }, chat],
    ['messages.put', { messages: [{ id: 'a', chat_id: group }] }, group],
    ['messages.patch', { messages_updates: [{ id: 'a', after_update: { id: 'a', chat_id: chat } }] }, chat],
    ['messages.delete', { messages_removed_all: group }, group],
    ['statuses.post', { statuses: [{ id: 'a', recipient_id: group, viewer_id: '1555' }] }, group],
    ['chats.post', { chats: [{ id: chat }] }, chat],
    ['chats.patch', { chats_updates: [{ before_update: { id: '1@lid' }, after_update: { id: chat } }] }, chat],
    ['chats.delete', { chats_removed: [chat] }, chat],
    ['groups.post', { groups: [{ id: group }] }, group],
    ['groups.put', { groups_participants: [{ group_id: group }] }, group],
    ['groups.patch', { groups_updates: [{ after_update: { id: group } }] }, group],
    ['presences.post', { presences: [{ contact_id: '15550001111' }] }, chat],
    ['presences.post', { presences: [{ contact_id: '77@lid' }] }, '77@lid'],
    ['calls.post', { calls: [{ id: 'a', chat_id: chat }] }, chat],
  ])('of %s is the chat that the payload names', (kind, payload, conversation) => {
    const [type = '', method = ''] = kind.split('.');
    expect(conversationOf({ type, method, payload })).toBe(conversation);
  });

  it.each([
    ['contacts.post', { contacts: [{ id: '15550001111' }] }],
    ['channel.post', { health: {} }],
    ['users.delete', { user: { id: '15550001111' } }],
    ['service.post', { errors: [{ code: 402 }] }],
    ['messages.delete', { messages_removed: ['a'] }],
    ['messages.post', { messages: [] }],
    ['newer.kind', { newer: [{ chat_id: chat }] }],
    ['constructor.name', {}],
  ])('of %s is none where no chat is named', (kind, payload) => {
    const [type = '', method = ''] = kind.split('.');
    expect(conversationOf({ type, method, payload })).toBeUndefined();
  });

  it('of an event whose payload names no chat is the one it was written with', () => {
    const payload = { messages_removed: ['a'] };
    expect(conversationOf({ type: 'messages', method: 'delete', payload, conversation: chat })).toBe(chat);
  });
});

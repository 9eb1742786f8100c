import type { Message } from '@dormouse/gateway-contract';
import type { proto, WAMessage } from '@whiskeysockets/baileys';
import { actionFromNetwork } from './change-from-network.js';
import type { People } from './people.js';

const ADA = '15550001111@s.whatsapp.net';
const GROUP = '120363000000000001@g.us';
const people: People = { own: { phone: '15550009999', lid: '900000000009' }, numbers: new Map() };
const target = 'A5C30000000000000000000000005000';
const targetId = 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w';

describe('edits', () => {
  const edit = (editedMessage: proto.IMessage) =>
    actionFromNetwork(
      received({ protocolMessage: { type: 14, key: { id: target, fromMe: true }, editedMessage } }),
      people,
    );

  it('reports the new text and replaces the old one', () => {
    const action = edit({ extendedTextMessage: { text: 'Hello there!' } });
    expect(action?.trigger.message).toMatchObject({
      type: 'action',
      from: '15550001111',
      action: { type: 'edit', target: targetId, edited_type: 'text', edited_content: { body: 'Hello there!' } },
    });
    expect(action?.change?.target).toEqual({ keyId: target, chatId: ADA });
    expect(action?.change?.apply(stored({}))).toEqual(stored({ text: { body: 'Hello there!' } }));
  });

  it('keeps what the edit of a caption does not repeat', () => {
    const action = edit({ imageMessage: { caption: 'new', mimetype: 'image/jpeg' } });
    const before = stored({
      type: 'image',
      text: undefined,
      image: { id: 'x-1', mime_type: 'image/jpeg', file_size: 7, caption: 'old' },
    });
    expect(action?.change?.apply(before)?.image).toEqual({
      id: 'x-1',
      mime_type: 'image/jpeg',
      file_size: 7,
      caption: 'new',
    });
    expect(action?.trigger.message.action?.edited_content).toEqual({ caption: 'new' });
  });

  it('changes no message of another author and no deleted one', () => {
    const apply = edit({ conversation: 'x' })?.change?.apply;
    expect(apply?.(stored({ from: '15550002222' }))).toBeUndefined();
    expect(apply?.(stored({ status: 'deleted' }))).toBeUndefined();
  });
});

describe('deletions', () => {
  const revoke = (key: proto.IMessageKey, receivedKey: Partial<WAMessage['key']> = {}) =>
    actionFromNetwork(received({ protocolMessage: { type: 0, key } }, receivedKey), people);

  it('names the deleted message and marks it', () => {
    const action = revoke({ id: target, fromMe: true, remoteJid: '15550009999@s.whatsapp.net' });
    expect(action?.trigger.message.action).toEqual({ type: 'delete', target: targetId });
    expect(action?.change?.apply(stored({}))?.status).toBe('deleted');
    expect(action?.change?.apply(stored({ from: '15550002222' }))).toBeUndefined();
  });

  it("knows an admin's deletion of another member's message in a group", () => {
    const action = revoke(
      { id: '3EB0000000000000001002', fromMe: false, participant: '900000000009@lid' },
      { remoteJid: GROUP, participant: ADA },
    );
    expect(action?.trigger.message.action?.target).toBe('PrAAAAAAAAAAEAI-wgABq52CwxmwAQ');
    expect(action?.change?.apply(stored({ from: '15550009999', chat_id: GROUP }))?.status).toBe('deleted');
  });
});

describe('reactions', () => {
  const react = (text: string, from = ADA) =>
    actionFromNetwork(
      received({ reactionMessage: { text, key: { id: '3EB0000000000000001000', fromMe: true } } }, { remoteJid: from }),
      people,
    );

  it('stands on its message, one for each person, and goes when taken back', () => {
    const first = react('👍');
    expect(first?.trigger.message.action).toEqual({
      type: 'reaction',
      target: 'PrAAAAAAAAAAEAA-wP4Dntov1w',
      emoji: '👍',
    });
    const once = first?.change?.apply(stored({})) ?? stored({});
    expect(once.reactions).toEqual([
      { id: first?.trigger.message.id, emoji: '👍', author: '15550001111', t: 1_790_000_000, unread: true, count: 1 },
    ]);
    const changed = react('🎉')?.change?.apply(once) ?? once;
    expect(changed.reactions?.map(({ emoji }) => emoji)).toEqual(['🎉']);
    expect(react('')?.change?.apply(changed)).toEqual(stored({}));
  });
});

describe('other actions', () => {
  it('reports pins and the timer for disappearing messages', () => {
    const pin = actionFromNetwork(
      received({ pinInChatMessage: { type: 1, key: { id: target, fromMe: false, participant: ADA } } }),
      people,
    );
    expect(pin?.trigger.message.action).toEqual({ type: 'pin', target: targetId });
    const timer = actionFromNetwork(received({ protocolMessage: { type: 3, ephemeralExpiration: 86_400 } }), people);
    expect(timer).toEqual({ trigger: timer?.trigger });
    expect(timer?.trigger.message.action).toEqual({ type: 'ephemeral', ephemeral: 86_400 });
  });

  it('is not in a plain message or in signals between devices', () => {
    expect(actionFromNetwork(received({ conversation: 'x' }), people)).toBeUndefined();
    expect(actionFromNetwork(received({ protocolMessage: { type: 5 } }), people)).toBeUndefined();
    expect(
      actionFromNetwork({ ...received({ protocolMessage: { type: 3 } }), category: 'peer' }, people),
    ).toBeUndefined();
  });
});

function stored(fields: Partial<Message>): Message {
  const message: Message = {
    id: targetId,
    from_me: false,
    type: 'text',
    chat_id: ADA,
    timestamp: 1,
    source: 'mobile',
    text: { body: 'Hello there' },
    from: '15550001111',
    ...fields,
  };
  if (message.text === undefined) delete message.text;
  return message;
}

function received(message: proto.IMessage, key: Partial<WAMessage['key']> = {}): WAMessage {
  return {
    key: { remoteJid: ADA, fromMe: false, id: 'A5C30000000000000000000000008D10', ...key },
    message,
    messageTimestamp: 1_790_000_000,
  };
}

describe('planned calls', () => {
  const cancel = (editType: number) =>
    actionFromNetwork(received({ scheduledCallEditMessage: { key: { id: target, fromMe: true }, editType } }), people);

  it('are reported as cancelled, and stay so', () => {
    const action = cancel(1);
    expect(action?.trigger.message.action).toMatchObject({ type: 'edit', target: targetId, edited_type: 'event' });
    const event = { name: 'Standup', start: 1_790_000_000 };
    const before = stored({ type: 'event', text: undefined, event });
    expect(action?.change?.apply(before)?.event).toEqual({ ...event, is_canceled: true });
  });

  it('are not changed by what this build does not know', () => {
    expect(cancel(0)).toBeUndefined();
  });
});

import { createHash, randomBytes } from 'node:crypto';
import type { Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { toMessageId } from './message-id.js';
import { pollOptionId } from './poll-content.js';
import { withVote } from './poll-votes.js';
import { sealedFromNetwork } from './sealed-from-network.js';
import { ADA, ADA_LID, GROUP, OWN, OWN_LID, received, people } from './test-messages.js';
import { sealFor } from './test-seal.js';

const secret = randomBytes(32);
const KEY_ID = '3EB0AAAAAAAAAAAAAAAAAA';
const CHAT = `${ADA}@s.whatsapp.net`;
const number = (phone: string) => `${phone}@s.whatsapp.net`;
const lid = (user: string) => `${user}@lid`;
const ownId = toMessageId({ keyId: KEY_ID, fromMe: true, chatId: CHAT });
const adasId = toMessageId({ keyId: KEY_ID, fromMe: false, chatId: CHAT });

/** A stored message, of the channel or (`ADA`) of the other one. */
function stored(from: string, fields: Partial<Message>, outer: proto.IMessage = {}): StoredMessage {
  const fromMe = from === OWN;
  return {
    message: {
      id: fromMe ? ownId : adasId,
      type: 'text',
      chat_id: CHAT,
      from_me: fromMe,
      from,
      source: fromMe ? 'api' : 'mobile',
      timestamp: 1,
      ...fields,
    },
    key: { id: KEY_ID, remote: CHAT },
    proto: Buffer.from(proto.Message.encode({ messageContextInfo: { messageSecret: secret }, ...outer }).finish()),
  };
}

const bytes = (message: proto.IMessage) => proto.Message.encode(proto.Message.fromObject(message)).finish();
const adasKey = { remoteJid: number(OWN), fromMe: true, id: KEY_ID };
const read = (message: WAMessage, target: StoredMessage | undefined) =>
  sealedFromNetwork(message, people)?.read(target)?.action;

describe('votes', () => {
  const options = ['Noodles', 'Rice', 'Soup'];
  const results = options.map((name) => ({ id: pollOptionId(name), name, count: 0, voters: [] }));
  const poll = stored(OWN, { type: 'poll', poll: { title: 'Lunch?', options, total: 0, results } });
  const vote = (chosen: string[], author: string, sealer: string, key: Partial<WAMessage['key']> = {}) => {
    const selectedOptions = chosen.map((name) => createHash('sha256').update(name).digest());
    const plain = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
    const sealed = sealFor(plain, { secret, keyId: KEY_ID, author, sealer, use: 'Poll Vote' });
    const pollCreationMessageKey = { remoteJid: lid(ADA_LID), fromMe: true, id: KEY_ID };
    return received({ pollUpdateMessage: { pollCreationMessageKey, vote: sealed } }, key);
  };

  it.each([
    [number(OWN), number(ADA)],
    [lid(OWN_LID), lid(ADA_LID)],
    [number(OWN), lid(ADA_LID)],
    [lid(OWN_LID), number(ADA)],
  ])('are opened in the naming they were sealed in: %s, %s', (creator, voter) => {
    const message = vote(['Rice', 'Soup'], creator, voter);
    expect(sealedFromNetwork(message, people)?.target).toEqual({ keyId: KEY_ID, chatId: CHAT });
    const action = read(message, poll);
    expect(action?.trigger.message).toMatchObject({
      type: 'action',
      from: ADA,
      action: { type: 'vote', target: ownId, votes: [pollOptionId('Rice'), pollOptionId('Soup')] },
    });
    expect(action?.change?.apply(poll.message)?.poll).toMatchObject({
      total: 2,
      results: [
        { name: 'Noodles', count: 0, voters: [] },
        { name: 'Rice', count: 1, voters: [ADA] },
        { name: 'Soup', count: 1, voters: [ADA] },
      ],
    });
  });

  it('of the own phone are opened, too', () => {
    const own = vote(['Rice'], lid(OWN_LID), lid(OWN_LID), { fromMe: true });
    expect(read(own, poll)?.trigger.message).toMatchObject({
      from_me: true,
      from: OWN,
      action: { votes: [pollOptionId('Rice')] },
    });
  });

  it('on polls that came in wrappers are opened', () => {
    const wrapped = {
      ...poll,
      proto: Buffer.from(bytes({ ephemeralMessage: { message: { messageContextInfo: { messageSecret: secret } } } })),
    };
    expect(read(vote(['Rice'], number(OWN), number(ADA)), wrapped)?.trigger.message.action?.votes).toHaveLength(1);
  });

  it('are reported without content when the poll is not stored or they cannot be opened', () => {
    const message = vote(['Rice'], 'x@lid', 'y@lid');
    for (const known of [undefined, poll, { ...poll, proto: Buffer.alloc(0) }]) {
      const action = read(message, known);
      expect(action?.trigger.message.action).toEqual({ type: 'vote', target: ownId });
      expect(action?.change).toBeUndefined();
    }
  });

  it('replace the one before, and are taken back by an empty one', () => {
    const first = withVote(poll.message, [pollOptionId('Rice')], ADA);
    const other = first && withVote(first, [pollOptionId('Rice')], OWN);
    expect(other?.poll?.results?.[1]).toMatchObject({ count: 2, voters: [ADA, OWN] });
    const changed = other && withVote(other, [pollOptionId('Soup')], ADA);
    expect(changed?.poll?.results?.map(({ voters }) => voters)).toEqual([[], [OWN], [ADA]]);
    expect((changed && withVote(changed, [], ADA))?.poll).toMatchObject({ total: 1 });
  });
});

describe('edits', () => {
  const text = stored(ADA, { text: { body: 'see you at 5' } });
  const edit = (plain: proto.IMessage, author: string, secretEncType = 2, use = 'Message Edit') =>
    received({
      secretEncryptedMessage: {
        targetMessageKey: adasKey,
        secretEncType,
        ...sealFor(bytes(plain), { secret, keyId: KEY_ID, author, use }),
      },
    });
  const whole = { protocolMessage: { type: 14, key: adasKey, editedMessage: { conversation: 'see you at 6' } } };

  it.each<[string, proto.IMessage, string]>([
    ['the whole edit, by number', whole, number(ADA)],
    ['the whole edit, by LID', whole, lid(ADA_LID)],
    ['the new text alone', { conversation: 'see you at 6' }, lid(ADA_LID)],
    ['a wrapped edit', { editedMessage: { message: whole } }, number(ADA)],
  ])('put the new text in place of the old: %s', (_, plain, author) => {
    const action = read(edit(plain, author), text);
    expect(action?.trigger.message.action).toEqual({
      type: 'edit',
      target: adasId,
      edited_type: 'text',
      edited_content: { body: 'see you at 6' },
    });
    expect(action?.change?.target).toEqual({ keyId: KEY_ID, chatId: CHAT });
    expect(action?.change?.apply(text.message)?.text?.body).toBe('see you at 6');
  });

  it('of events change them and keep the answers', () => {
    const responses = [{ participant: OWN, response: 'GOING' as const }];
    const event = stored(ADA, { type: 'event', event: { name: 'Party', start: 1, responses } });
    const plain = { eventMessage: { name: 'Party', isCanceled: true, startTime: 2 } };
    const action = read(edit(plain, number(ADA), 1, 'Event Edit'), event);
    expect(action?.change?.apply(event.message)?.event).toEqual({
      name: 'Party',
      start: 2,
      is_canceled: true,
      responses,
    });
  });

  it('of polls, which the library has no number for, keep the votes', () => {
    const result = { id: pollOptionId('Rice'), name: 'Rice', count: 1, voters: [OWN] };
    const before = stored(ADA, {
      type: 'poll',
      poll: { title: 'Lunch?', options: ['Rice'], total: 1, results: [result] },
    });
    const plain = {
      pollCreationMessage: { name: 'Lunch?', options: [{ optionName: 'Rice' }, { optionName: 'Soup' }] },
    };
    const action = read(edit(plain, number(ADA), 5, 'Poll Add Option'), before);
    expect(action?.change?.apply(before.message)?.poll).toMatchObject({
      options: ['Rice', 'Soup'],
      total: 1,
      results: [result, { name: 'Soup', count: 0 }],
    });
  });

  it('are reported as edits without content when they cannot be opened', () => {
    for (const target of [undefined, text, stored(OWN, { text: { body: 'mine' } })]) {
      const action = read(edit(whole, number('15550002222')), target);
      expect(action?.trigger.message).toMatchObject({ type: 'action', action: { type: 'edit' } });
      expect(action?.trigger.message.action?.edited_content).toBeUndefined();
      expect(action?.change).toBeUndefined();
    }
  });

  it('by anyone but the author change nothing', () => {
    const mine = stored(OWN, { text: { body: 'mine' } });
    const forged = received({
      secretEncryptedMessage: {
        targetMessageKey: { id: KEY_ID, fromMe: false },
        secretEncType: 2,
        ...sealFor(bytes(whole), {
          secret,
          keyId: KEY_ID,
          author: number(OWN),
          sealer: number(ADA),
          use: 'Message Edit',
        }),
      },
    });
    const action = read(forged, mine);
    expect(action?.trigger.message.action).toEqual({ type: 'edit', target: ownId });
    expect(action?.change).toBeUndefined();
  });
});

describe('answers to events', () => {
  const inGroup = { remoteJid: GROUP, remoteJidAlt: undefined, participant: lid(ADA_LID) };
  const event = stored(OWN, { type: 'event', chat_id: GROUP, event: { name: 'Party' } });
  const answer = (response: number, timestampMs = 5_000) =>
    received(
      {
        encEventResponseMessage: {
          eventCreationMessageKey: { remoteJid: GROUP, fromMe: false, id: KEY_ID, participant: lid(OWN_LID) },
          ...sealFor(proto.Message.EventResponseMessage.encode({ response, timestampMs }).finish(), {
            secret,
            keyId: KEY_ID,
            author: lid(OWN_LID),
            sealer: lid(ADA_LID),
            use: 'Event Response',
          }),
        },
      },
      inGroup,
    );

  it('are actions, and stand on the event, one for each person', () => {
    const action = read(answer(1), event);
    const response = { participant: ADA, response: 'GOING', timestamp: 5 };
    expect(action?.trigger.message.action).toEqual({ type: 'event_response', target: ownId, event_response: response });
    const once = action?.change?.apply(event.message) ?? event.message;
    expect(once.event).toEqual({ name: 'Party', responses: [response] });
    const changed = read(answer(2, 6_000), event)?.change?.apply(once);
    expect(changed?.event?.responses).toEqual([{ participant: ADA, response: 'NOT_GOING', timestamp: 6 }]);
    expect(read(answer(3), event)?.trigger.message.action?.event_response?.response).toBe('UNKNOWN');
  });

  it('are reported without the answer when the event is not stored', () => {
    const target = toMessageId({ keyId: KEY_ID, fromMe: true, chatId: GROUP });
    expect(read(answer(1), undefined)?.trigger.message.action).toEqual({ type: 'event_response', target });
  });
});

describe('additions in announcements', () => {
  const inGroup = { remoteJid: GROUP, remoteJidAlt: undefined, participant: lid(ADA_LID) };
  const own = stored(OWN, { chat_id: GROUP, text: { body: 'News' } });
  const targetMessageKey = { remoteJid: GROUP, fromMe: false, id: KEY_ID, participant: number(OWN) };
  const sealed = (plain: Uint8Array, use: string) => ({
    targetMessageKey,
    ...sealFor(plain, { secret, keyId: KEY_ID, author: number(OWN), sealer: lid(ADA_LID), use }),
  });

  it('may be reactions, which stand on their message', () => {
    const plain = proto.Message.ReactionMessage.encode({ text: '👍' }).finish();
    const action = read(received({ encReactionMessage: sealed(plain, 'Enc Reaction') }, inGroup), own);
    expect(action?.trigger.message.action).toEqual({ type: 'reaction', target: ownId, emoji: '👍' });
    expect(action?.change?.apply(own.message)?.reactions).toMatchObject([{ emoji: '👍', author: ADA }]);
  });

  it('may be comments, which are reported with their text', () => {
    const comment = (plain: proto.IMessage) =>
      read(received({ encCommentMessage: sealed(bytes(plain), 'Enc Comment') }, inGroup), own)?.trigger.message.action;
    expect(comment({ conversation: 'Nice' })).toEqual({ type: 'comment', target: ownId, comment: 'Nice' });
    expect(comment({ imageMessage: { caption: 'Look' } })?.comment).toBe('Look');
  });

  it('are reported by their type when they cannot be opened', () => {
    const broken = { targetMessageKey, encIv: Buffer.alloc(12), encPayload: Buffer.alloc(3) };
    expect(read(received({ encReactionMessage: broken }, inGroup), own)?.trigger.message.action).toEqual({
      type: 'reaction',
      target: ownId,
    });
    expect(read(received({ encCommentMessage: broken }, inGroup), own)?.trigger.message.action).toEqual({
      type: 'comment',
      target: ownId,
    });
  });
});

it('is nothing in any other message', () => {
  expect(sealedFromNetwork(received({ conversation: 'x' }), people)).toBeUndefined();
  expect(sealedFromNetwork(received({ encReactionMessage: {} }), people)).toBeUndefined();
});

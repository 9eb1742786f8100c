import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { actionFromNetwork } from './change-from-network.js';
import { contentWithFile } from './file-part.js';
import { PARTS, SIGNALS, WRAPPERS } from './message-parts.js';
import { messageFromNetwork } from './message-from-network.js';
import { sealedFromNetwork } from './sealed-from-network.js';
import { received, people, shownMessage } from './test-messages.js';

const wrapped = (wrapper: string, message: proto.IMessage): proto.IMessage => ({ [wrapper]: { message } });

describe('wrappers', () => {
  it('are known from the network itself', () => {
    expect(WRAPPERS.size).toBeGreaterThanOrEqual(23);
    expect([...WRAPPERS]).toEqual(expect.arrayContaining(['ephemeralMessage', 'botInvokeMessage', 'questionMessage']));
  });

  it.each([...WRAPPERS])('are opened: %s', (wrapper) => {
    const message = shownMessage(wrapped(wrapper, { extendedTextMessage: { text: 'inside' } }));
    expect(message).toMatchObject({ type: 'text', text: { body: 'inside' } });
    const deep = wrapped(
      'ephemeralMessage',
      wrapped(wrapper, wrapped('documentWithCaptionMessage', { conversation: 'x' })),
    );
    expect(shownMessage(deep)?.text?.body).toBe('x');
    const reaction = wrapped(wrapper, { reactionMessage: { text: '👍', key: { id: 'A1', fromMe: true } } });
    expect(actionFromNetwork(received(reaction), people)?.trigger.message.action).toMatchObject({ emoji: '👍' });
    const imageMessage = { mediaKey: Buffer.alloc(32), directPath: '/x' };
    expect(contentWithFile(received(wrapped(wrapper, { imageMessage })).message)?.imageMessage?.directPath).toBe('/x');
  });

  it('of the sending device are opened', () => {
    expect(
      shownMessage({ deviceSentMessage: { destinationJid: 'x', message: { conversation: 'mine' } } })?.text?.body,
    ).toBe('mine');
  });

  it('keep their meaning: what may be seen once is marked, in any of them', () => {
    const imageMessage = { mimetype: 'image/jpeg' };
    for (const wrapper of ['viewOnceMessage', 'viewOnceMessageV2', 'viewOnceMessageV2Extension']) {
      expect(shownMessage(wrapped('ephemeralMessage', wrapped(wrapper, { imageMessage })))?.image?.view_once).toBe(
        true,
      );
      expect(shownMessage(wrapped(wrapper, wrapped('groupMentionedMessage', { imageMessage })))?.image?.view_once).toBe(
        true,
      );
    }
    expect(shownMessage(wrapped('ephemeralMessage', { imageMessage }))?.image?.view_once).toBeUndefined();
  });

  it('are opened to a bound', () => {
    let message: proto.IMessage = { conversation: 'deep' };
    for (let depth = 0; depth < 40; depth += 1) message = wrapped('ephemeralMessage', message);
    expect(shownMessage(message)?.text).toBeUndefined();
  });

  it('with nothing in them are not reported', () => {
    expect(shownMessage({ ephemeralMessage: {} })).toBeUndefined();
  });
});

describe('every part of a message', () => {
  /** Parts with too little in them to be read, filled with what they need. */
  const SAMPLES: Record<string, proto.IMessage> = {
    conversation: { conversation: 'x' },
    questionResponseMessage: { questionResponseMessage: { text: 'x' } },
    statusQuestionAnswerMessage: { statusQuestionAnswerMessage: { text: 'x' } },
    statusQuotedMessage: { statusQuotedMessage: { text: 'x' } },
    richResponseMessage: { richResponseMessage: { submessages: [{ messageText: 'x' }] } },
    protocolMessage: { protocolMessage: { type: 0, key: { id: 'A1' } } },
    reactionMessage: { reactionMessage: { key: { id: 'A1' } } },
    pinInChatMessage: { pinInChatMessage: { key: { id: 'A1' } } },
    commentMessage: { commentMessage: { targetMessageKey: { id: 'A1' }, message: { conversation: 'x' } } },
    deviceSentMessage: { deviceSentMessage: { message: { conversation: 'x' } } },
    ...Object.fromEntries(
      ['encReactionMessage', 'encCommentMessage', 'secretEncryptedMessage'].map((part) => [
        part,
        { [part]: { targetMessageKey: { id: 'A1' }, encIv: Buffer.alloc(12), encPayload: Buffer.alloc(20) } },
      ]),
    ),
    encEventResponseMessage: {
      encEventResponseMessage: {
        eventCreationMessageKey: { id: 'A1' },
        encIv: Buffer.alloc(12),
        encPayload: Buffer.alloc(20),
      },
    },
    pollUpdateMessage: {
      pollUpdateMessage: {
        pollCreationMessageKey: { id: 'A1' },
        vote: { encIv: Buffer.alloc(12), encPayload: Buffer.alloc(20) },
      },
    },
  };
  /** Reported as unknown, with their names. */
  const NAMED = [
    'chat',
    'sendPaymentMessage',
    'requestPaymentMessage',
    'declinePaymentRequestMessage',
    'cancelPaymentRequestMessage',
    'paymentInviteMessage',
    'invoiceMessage',
    'requestPhoneNumberMessage',
    'scheduledCallEditMessage',
    'callLogMesssage',
    'bcallMessage',
    'placeholderMessage',
    'stickerPackMessage',
  ];

  it.each(PARTS.map((part) => [part]))('is a message, an action, a signal, or unknown by its name: %s', (part) => {
    const content = SAMPLES[part] ?? (WRAPPERS.has(part) ? wrapped(part, { conversation: 'x' }) : { [part]: {} });
    const message = received(content);
    const read = messageFromNetwork(message, people)?.message;
    const action = actionFromNetwork(message, people) ?? sealedFromNetwork(message, people)?.read(undefined)?.action;
    if (SIGNALS.has(part)) {
      expect(read).toBeUndefined();
      expect(action !== undefined).toBe(part in SAMPLES);
    } else {
      expect(action).toBeUndefined();
      expect(read?.type === 'unknown' ? read.subtype : undefined).toBe(NAMED.includes(part) ? part : undefined);
      expect(read).toBeDefined();
    }
  });
});

describe('signals', () => {
  it.each<[string, proto.IMessage]>([
    ['the key of a call', { call: { callKey: Buffer.alloc(32, 1) } }],
    ['a message that is kept', { keepInChatMessage: { key: { id: 'A1' }, keepType: 1 } }],
    ['keys of a group', { senderKeyDistributionMessage: { groupId: 'x' }, messageContextInfo: {} }],
    ['shared keys', { protocolMessage: { type: 6 } }],
    ['a history bundle', { messageHistoryBundle: {} }],
    ['a limit of sharing', { limitSharingMessage: { message: { protocolMessage: { type: 27 } } } }],
  ])('are not reported: %s', (_, content) => {
    expect(shownMessage(content)).toBeUndefined();
    expect(actionFromNetwork(received(content), people)).toBeUndefined();
  });
});

describe('parts newer than this build', () => {
  /** A part with a number that no build of today knows: field 5000 of a message, or of what it wraps. */
  const newer = Buffer.from([0xc2, 0xb8, 0x02, 0x03, 0x0a, 0x01, 0x78]);
  const arrived = (bytes: Uint8Array): WAMessage => ({ ...received({}), message: proto.Message.decode(bytes) });

  it('are reported as unknown, with their number', () => {
    const read = messageFromNetwork(arrived(newer), people)?.message;
    expect(read).toMatchObject({ type: 'unknown', subtype: 'field 5000' });
  });

  it('are found beside what accompanies every message, and in wrappers', () => {
    const beside = proto.Message.encode({ messageContextInfo: { messageSecret: Buffer.alloc(32, 1) } }).finish();
    expect(messageFromNetwork(arrived(Buffer.concat([newer, beside])), people)?.message.subtype).toBe('field 5000');
    const inside = Buffer.concat([Buffer.from([0xc2, 0x02, newer.length + 2, 0x0a, newer.length]), newer]);
    expect(Object.keys(proto.Message.decode(inside))).toEqual(['ephemeralMessage']);
    expect(messageFromNetwork(arrived(inside), people)?.message.subtype).toBe('field 5000');
  });

  it('are found in a message that came in two parts', () => {
    const keys = proto.Message.decode(
      proto.Message.encode({ senderKeyDistributionMessage: { groupId: 'g' } }).finish(),
    );
    const joined = Object.assign(keys, proto.Message.decode(newer));
    expect(messageFromNetwork({ ...received({}), message: joined }, people)?.message.subtype).toBe('field 5000');
  });

  it('do not disturb what is known', () => {
    const text = proto.Message.encode({ conversation: 'x' }).finish();
    expect(messageFromNetwork(arrived(Buffer.concat([newer, text])), people)?.message.text?.body).toBe('x');
  });
});

describe('what can be seen once', () => {
  it('is reported by a notice when its content goes to the phone only', () => {
    const notice = { ...received({}, { isViewOnce: true }), message: undefined };
    expect(messageFromNetwork(notice, people)?.message).toMatchObject({
      type: 'unknown',
      subtype: 'view_once',
      unknown: { view_once: true },
      from: '15550001111',
      chat_id: '15550001111@s.whatsapp.net',
    });
  });
});

describe('polls', () => {
  it.each(PARTS.filter((part) => /^pollCreationMessage(V[1235])?$/.test(part)))(
    'are reported in every form: %s',
    (part) => {
      const poll = { name: 'Quiz', options: [{ optionName: 'a' }, { optionName: 'b' }], selectableOptionsCount: 1 };
      expect(shownMessage({ [part]: poll })).toMatchObject({
        type: 'poll',
        poll: { title: 'Quiz', options: ['a', 'b'], vote_limit: 1 },
      });
      const fourth = { pollCreationMessageV4: { message: { [part]: { ...poll, pollType: 1 } } } };
      expect(shownMessage(fourth)?.poll?.title).toBe('Quiz');
    },
  );

  it('are reported with their results when those are shared', () => {
    const pollVotes = [{ optionName: 'a', optionVoteCount: 2 }, { optionName: 'b' }];
    expect(shownMessage({ pollResultSnapshotMessage: { name: 'Quiz', pollVotes } })?.poll).toMatchObject({
      title: 'Quiz',
      options: ['a', 'b'],
      total: 2,
    });
  });
});

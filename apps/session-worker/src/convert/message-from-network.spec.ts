import { MESSAGE_ID_PATTERN, type Message } from '@dormouse/gateway-contract';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { WAMessageStubType } from '../socket/test-library.js';
import { messageFromNetwork } from './message-from-network.js';
import { toMessageId } from './message-id.js';
import type { People } from './people.js';

const ADA = '15550001111@s.whatsapp.net';
const ADA_LID = '900000000001@lid';
const GROUP = '120363000000000001@g.us';
const people: People = {
  own: { phone: '15550009999', lid: '900000000009' },
  numbers: new Map([['900000000002', '15550002222']]),
};

describe('messageFromNetwork', () => {
  it('reads author, chat, time and content', () => {
    const record = messageFromNetwork(received({ conversation: 'Hello there' }), people);
    expect(record?.message).toEqual({
      id: 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w',
      from_me: false,
      type: 'text',
      chat_id: ADA,
      timestamp: 1_789_999_990,
      source: 'mobile',
      text: { body: 'Hello there' },
      from: '15550001111',
      from_name: 'Ada Example',
    });
    expect(record?.key).toEqual({ id: 'A5C30000000000000000000000005000', remote: ADA_LID });
    expect(record?.keyAliases).toEqual([ADA_LID, ADA]);
    expect(proto.Message.decode(record?.proto ?? new Uint8Array()).conversation).toBe('Hello there');
  });

  it('names group and author, and never shows a LID as a number', () => {
    const inGroup = (participant: string) =>
      messageFromNetwork(
        received({ conversation: 'x' }, { remoteJid: GROUP, remoteJidAlt: undefined, participant }),
        people,
      )?.message;
    expect(inGroup('900000000002:3@lid')).toMatchObject({ chat_id: GROUP, from: '15550002222' });
    const unknown = inGroup('900000000003@lid');
    expect(unknown?.from).toBe('900000000003@lid');
    const name = { keyId: 'A5C30000000000000000000000005000', fromMe: false, chatId: GROUP };
    expect(unknown?.id).toBe(toMessageId({ ...name, participant: '900000000003@lid' }));
    const alone = messageFromNetwork(received({ conversation: 'x' }, { remoteJidAlt: undefined }), people)?.message;
    expect(alone).toMatchObject({ chat_id: ADA_LID, from: ADA_LID });
  });

  it('knows own messages from the phone or another device', () => {
    const own = {
      ...received({ conversation: 'typed' }, { fromMe: true, id: '3AAABBCCDDEEFF001122' }),
      status: 2,
      pushName: 'Shop',
    };
    expect(messageFromNetwork(own, people)?.message).toMatchObject({
      from_me: true,
      from: '15550009999',
      from_name: 'Shop',
      source: 'mobile',
      status: 'sent',
      chat_id: ADA,
    });
    own.key.id = '3EB0AABBCCDDEEFF001122';
    expect(messageFromNetwork(own, people)?.message.source).toBe('web');
  });

  it.each<[string, WAMessage]>([
    ['cannot be read yet', { ...received(undefined), messageStubType: WAMessageStubType.CIPHERTEXT }],
    ['is between the linked devices', { ...received({ conversation: 'x' }), category: 'peer' }],
    ['is a status update', received({ conversation: 'x' }, { remoteJid: 'status@broadcast', participant: ADA })],
    [
      'is from a newsletter',
      received({ conversation: 'x' }, { remoteJid: '1203@newsletter', remoteJidAlt: undefined }),
    ],
    ['hands out keys', received({ senderKeyDistributionMessage: { groupId: GROUP } })],
    ['has only a context', received({ messageContextInfo: { messageSecret: new Uint8Array(32) } })],
    ['is an album cover', received({ albumMessage: { expectedImageCount: 2 } })],
    ['changes another message', received({ protocolMessage: { type: 0, key: { id: 'X' } } })],
    ['is empty', received(undefined)],
    ['has no id', received({ conversation: 'x' }, { id: undefined })],
  ])('ignores a message that %s', (_, message) => {
    expect(messageFromNetwork(message, people)).toBeUndefined();
  });

  it('reports a message of an unknown kind as such', () => {
    const message = messageFromNetwork(received({ requestPaymentMessage: { noteMessage: {} } }), people)?.message;
    expect(message?.type).toBe('unknown');
  });

  it('reports what happened in a group in a sentence', () => {
    const stub = {
      ...received(undefined, { remoteJid: GROUP, remoteJidAlt: undefined, participant: '900000000002@lid' }),
      messageStubType: WAMessageStubType.GROUP_PARTICIPANT_ADD,
      messageStubParameters: [JSON.stringify({ id: '900000000009@lid' }), ADA],
    };
    expect(messageFromNetwork(stub, people)?.message).toMatchObject({
      type: 'system',
      source: 'system',
      system: { body: '15550002222 added 15550009999, 15550001111' },
    });
    expect(messageFromNetwork({ ...stub, messageStubType: WAMessageStubType.E2E_ENCRYPTED }, people)).toBeUndefined();
  });

  it.each(['900000000009@lid', '15550009999@s.whatsapp.net'])(
    "is the channel's own where the channel, as %s, changed a group",
    (participant) => {
      const stub = {
        ...received(undefined, { remoteJid: GROUP, remoteJidAlt: undefined, participant, fromMe: false }),
        messageStubType: WAMessageStubType.GROUP_CHANGE_SUBJECT,
        messageStubParameters: ['New Name'],
      };
      const { message, key } = messageFromNetwork(stub, people) ?? {};
      expect(message).toMatchObject({ from_me: true, from: '15550009999', type: 'system' });
      expect(message?.id).toBe(toMessageId({ keyId: key?.id ?? '', fromMe: true, chatId: GROUP }));
    },
  );

  it.each([
    [
      WAMessageStubType.INDIVIDUAL_CHANGE_NUMBER,
      ['15550004444@s.whatsapp.net'],
      'Changed to another number: 15550004444',
    ],
    [WAMessageStubType.SCHEDULED_CALL_CANCEL, [], '15550001111 cancelled a scheduled call'],
    [WAMessageStubType.SCHEDULED_CALL_START_MESSAGE, [], '15550001111 started a scheduled call'],
  ])('reports what a chat of two shows between its messages: %i', (messageStubType, messageStubParameters, body) => {
    const participant = '15550001111@s.whatsapp.net';
    const key = { remoteJid: participant, fromMe: false, id: 'A5C3000000000001', participant };
    const read = messageFromNetwork({ key, messageTimestamp: 1, messageStubType, messageStubParameters }, people);
    expect(read?.message).toMatchObject({ type: 'system', system: { body } });
  });

  describe('content', () => {
    const fileSha256 = Buffer.from('q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=', 'base64');
    const sha256 = fileSha256.toString('base64');
    const jpegThumbnail = new Uint8Array([255, 216]);
    const file = { fileSha256, fileLength: 40_000, jpegThumbnail };
    const id = (extension: string) => `${extension}-a5c30000000000000000000000005000-80b8039eda2fd7`;

    it.each<[string, proto.IMessage, Partial<Message>]>([
      [
        'link_preview',
        {
          extendedTextMessage: {
            text: 'see https://shop.example.com',
            matchedText: 'https://shop.example.com',
            title: 'Shop',
          },
        },
        { link_preview: { body: 'see https://shop.example.com', url: 'https://shop.example.com', title: 'Shop' } },
      ],
      [
        'image',
        { imageMessage: { ...file, mimetype: 'image/jpeg', caption: 'Receipt', width: 1320, height: 1331 } },
        {
          image: {
            id: id('jpeg'),
            mime_type: 'image/jpeg',
            file_size: 40_000,
            sha256,
            caption: 'Receipt',
            width: 1320,
            height: 1331,
            preview: 'data:image/jpeg;base64,/9g=',
          },
        },
      ],
      [
        'video',
        { videoMessage: { fileSha256, fileLength: 1, mimetype: 'video/mp4', seconds: 5, width: 640, height: 360 } },
        { video: { id: id('mp4'), mime_type: 'video/mp4', file_size: 1, sha256, seconds: 5, width: 640, height: 360 } },
      ],
      [
        'gif',
        { videoMessage: { mimetype: 'video/mp4', gifPlayback: true } },
        { gif: { id: id('mp4'), mime_type: 'video/mp4', file_size: 0 } },
      ],
      [
        'short',
        { ptvMessage: { mimetype: 'video/mp4' } },
        { short: { id: id('mp4'), mime_type: 'video/mp4', file_size: 0 } },
      ],
      [
        'voice',
        { audioMessage: { mimetype: 'audio/ogg; codecs=opus', ptt: true, seconds: 4, fileLength: 9 } },
        { voice: { id: id('ogg'), mime_type: 'audio/ogg; codecs=opus', file_size: 9, seconds: 4 } },
      ],
      [
        'audio',
        { audioMessage: { mimetype: 'audio/mpeg', seconds: 30, fileLength: 9 } },
        { audio: { id: id('mp3'), mime_type: 'audio/mpeg', file_size: 9, seconds: 30 } },
      ],
      [
        'document',
        {
          documentWithCaptionMessage: {
            message: {
              documentMessage: { mimetype: 'application/pdf', fileName: '144.pdf', caption: 'c', pageCount: 1 },
            },
          },
        },
        {
          document: {
            id: id('pdf'),
            mime_type: 'application/pdf',
            file_size: 0,
            file_name: '144.pdf',
            filename: '144.pdf',
            caption: 'c',
            page_count: 1,
          },
        },
      ],
      [
        'sticker',
        { stickerMessage: { mimetype: 'image/webp', width: 512, height: 512 } },
        {
          sticker: { id: id('webp'), mime_type: 'image/webp', file_size: 0, animated: false, width: 512, height: 512 },
        },
      ],
      [
        'location',
        { locationMessage: { degreesLatitude: 1.3521, degreesLongitude: 103.8198, name: 'Office' } },
        { location: { latitude: 1.3521, longitude: 103.8198, name: 'Office' } },
      ],
      [
        'live_location',
        { liveLocationMessage: { degreesLatitude: 1, degreesLongitude: 2, caption: 'on my way', sequenceNumber: 3 } },
        { live_location: { latitude: 1, longitude: 2, caption: 'on my way', sequence_number: 3 } },
      ],
      [
        'contact',
        { contactMessage: { displayName: 'Cy Example', vcard: 'BEGIN:VCARD' } },
        { contact: { name: 'Cy Example', vcard: 'BEGIN:VCARD' } },
      ],
      [
        'contact_list',
        { contactsArrayMessage: { contacts: [{ displayName: 'Cy', vcard: 'V' }] } },
        { contact_list: { list: [{ name: 'Cy', vcard: 'V' }] } },
      ],
      [
        'poll',
        { pollCreationMessageV3: { name: 'Lunch?', options: [{ optionName: 'Rice' }], selectableOptionsCount: 1 } },
        {
          poll: {
            title: 'Lunch?',
            options: ['Rice'],
            vote_limit: 1,
            total: 0,
            results: [{ id: 'Nm1BJvUn/j3rg1JfVyMUj34gZMF+PoPVyQF/CiVm7js=', name: 'Rice', count: 0, voters: [] }],
          },
        },
      ],
      [
        'group_invite',
        { groupInviteMessage: { caption: 'Join', groupName: 'Example', inviteCode: 'abc' } },
        { group_invite: { body: 'Join', title: 'Example', invite_code: 'abc' } },
      ],
      [
        'reply',
        { buttonsResponseMessage: { selectedButtonId: 'yes', selectedDisplayText: 'Yes' } },
        { reply: { type: 'buttons_reply', buttons_reply: { id: 'yes', title: 'Yes' } } },
      ],
    ])('reads %s', (type, message, fields) => {
      const { message: read } = messageFromNetwork(received(message), people) ?? {};
      expect(read?.type).toBe(type);
      if (type === 'poll' && read?.poll?.results?.[0]) expect(read.poll.results[0].id).toHaveLength(44);
      const expected = type === 'poll' ? { poll: { ...fields.poll, results: expect.any(Array) as unknown } } : fields;
      expect({ [type]: read?.[type] }).toEqual(expected);
    });

    it('marks what may be seen once', () => {
      const message = messageFromNetwork(
        received({ viewOnceMessageV2: { message: { imageMessage: { mimetype: 'image/jpeg' } } } }),
        people,
      )?.message;
      expect(message?.image).toMatchObject({ view_once: true });
    });

    it('opens disappearing messages and reads their timer', () => {
      const message = messageFromNetwork(
        received({
          ephemeralMessage: {
            message: { extendedTextMessage: { text: 'soon gone', contextInfo: { expiration: 86_400 } } },
          },
        }),
        people,
      )?.message;
      expect(message).toMatchObject({ type: 'text', text: { body: 'soon gone' }, context: { ephemeral: 86_400 } });
    });
  });

  describe('context', () => {
    const context = (contextInfo: proto.IContextInfo, key: Partial<WAMessage['key']> = {}) =>
      messageFromNetwork(received({ extendedTextMessage: { text: 'x', contextInfo } }, key), people)?.message.context;

    it('shows mentions as contact ids, the own LID as the own number', () => {
      expect(context({ mentionedJid: ['900000000009@lid', '900000000002:1@lid', '900000000007@lid', GROUP] })).toEqual({
        mentions: ['15550009999', '15550002222', '900000000007@lid', GROUP],
      });
    });

    it('names a quoted message by its public id, whichever side wrote it', () => {
      expect(
        context({
          stanzaId: '3EB0000000000000001000',
          participant: '15550009999@s.whatsapp.net',
          quotedMessage: { conversation: 'Hi Ada' },
        }),
      ).toEqual({
        quoted_id: 'PrAAAAAAAAAAEAA-wP4Dntov1w',
        quoted_author: '15550009999',
        quoted_type: 'text',
        quoted_content: { body: 'Hi Ada' },
      });
      const inGroup = context(
        { stanzaId: 'A5C300000000000000000000000053D1', participant: '900000000002@lid' },
        { remoteJid: GROUP, remoteJidAlt: undefined, participant: ADA },
      );
      expect(inGroup?.quoted_id).toBe('pcMAAAAAAAAAAAAAAABT0Q-kowBq52CwxmwAQ-A57aNC4');
    });

    it('shows forwards, and no context when there is none', () => {
      expect(context({ isForwarded: true, forwardingScore: 2 })).toEqual({ forwarded: true, forwarding_score: 2 });
      expect(context({})).toBeUndefined();
    });
  });

  it('gives every message an id of the published form', () => {
    for (const key of [
      { id: 'ODD id' },
      { id: 'x'.repeat(200) },
      { remoteJid: '15550001111-1500000000@g.us', participant: ADA },
    ]) {
      expect(messageFromNetwork(received({ conversation: 'x' }, key), people)?.message.id).toMatch(MESSAGE_ID_PATTERN);
    }
  });
});

function received(message: proto.IMessage | undefined, key: Partial<WAMessage['key']> = {}): WAMessage {
  return {
    key: { remoteJid: ADA_LID, remoteJidAlt: ADA, fromMe: false, id: 'A5C30000000000000000000000005000', ...key },
    ...(message && { message }),
    messageTimestamp: 1_789_999_990,
    pushName: 'Ada Example',
  };
}

import type { StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { contextToNetwork, editToNetwork, shownContext, textToNetwork } from './message-to-network.js';
import type { People } from './people.js';

const people: People = { own: { phone: '15550009999' }, numbers: new Map() };
const stored = (content: proto.IMessage, fields: Partial<StoredMessage['message']> = {}): StoredMessage => ({
  message: {
    id: 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w',
    type: 'text',
    chat_id: '15550001111@s.whatsapp.net',
    from_me: false,
    source: 'mobile',
    timestamp: 1,
    text: { body: 'Hello there' },
    from: '15550001111',
    ...fields,
  },
  key: { id: 'A5C3', remote: '900000000001@lid' },
  proto: Buffer.from(proto.Message.encode(content).finish()),
});

describe('texts', () => {
  it('are nothing but the text when nothing goes with them', () => {
    expect(textToNetwork('Hello', contextToNetwork({}, people))).toEqual({ extendedTextMessage: { text: 'Hello' } });
    expect(shownContext({})).toBeUndefined();
  });

  it('name people by address, in whichever form they were written', () => {
    const { extendedTextMessage: text } = textToNetwork(
      'x',
      contextToNetwork({ mentions: ['15550002222', '15550003333@s.whatsapp.net'] }, people),
    );
    expect(text?.contextInfo?.mentionedJid).toEqual(['15550002222@s.whatsapp.net', '15550003333@s.whatsapp.net']);
    expect(shownContext({ mentions: ['15550002222', '15550003333@s.whatsapp.net'] })).toEqual({
      mentions: ['15550002222', '15550003333'],
    });
  });

  it('quote the text of the original, but not what that one quoted', () => {
    const quoted = stored({
      extendedTextMessage: { text: 'Hello there', contextInfo: { stanzaId: 'older' } },
      messageContextInfo: {},
    });
    const { extendedTextMessage: text } = textToNetwork('Yes', contextToNetwork({ quoted }, people));
    expect(text?.contextInfo).toMatchObject({ stanzaId: 'A5C3', participant: '900000000001@lid' });
    const bytes = proto.Message.encode(text?.contextInfo?.quotedMessage ?? {}).finish();
    expect(proto.Message.decode(bytes).toJSON()).toEqual({ extendedTextMessage: { text: 'Hello there' } });
    expect(shownContext({ quoted })).toEqual({
      quoted_id: quoted.message.id,
      quoted_author: '15550001111',
      quoted_type: 'text',
      quoted_content: { body: 'Hello there' },
    });
  });

  it('quote own messages as the own number, and group members by their address', () => {
    const own = contextToNetwork({ quoted: stored({ conversation: 'mine' }, { from_me: true }) }, people);
    expect(own?.participant).toBe('15550009999@s.whatsapp.net');
    const inGroup = stored({ conversation: 'theirs' });
    inGroup.key.participant = '900000000002@lid';
    expect(contextToNetwork({ quoted: inGroup }, people)?.participant).toBe('900000000002@lid');
  });

  it('quote what an edit made of the original', () => {
    const quoted = stored({ conversation: 'Hello there' }, { text: { body: 'Hello, edited' } });
    const bytes = proto.Message.encode(contextToNetwork({ quoted }, people)?.quotedMessage ?? {}).finish();
    expect(proto.Message.decode(bytes).toJSON()).toEqual({ conversation: 'Hello, edited' });
  });

  it('quote a message whose bytes are not kept by its text', () => {
    const { proto: _, ...rest } = stored({});
    const { extendedTextMessage: text } = textToNetwork('x', contextToNetwork({ quoted: rest }, people));
    expect(text?.contextInfo?.quotedMessage).toEqual({ conversation: 'Hello there' });
  });
});

describe('edits', () => {
  it('name the edited message and carry its new text', () => {
    const { protocolMessage: edit } = editToNetwork(
      stored({ conversation: 'old' }),
      'new',
      {},
      people,
      1_790_000_000_000,
    );
    expect(edit).toMatchObject({
      type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
      key: { remoteJid: '900000000001@lid', fromMe: true, id: 'A5C3' },
      editedMessage: { extendedTextMessage: { text: 'new' } },
      timestampMs: 1_790_000_000_000,
    });
  });

  it('change the caption of a file and keep the file', () => {
    const image = stored({ imageMessage: { url: 'https://u', caption: 'old', fileLength: 7 } });
    const { protocolMessage: edit } = editToNetwork(image, 'new', {}, people, 1);
    expect(edit?.editedMessage?.imageMessage).toMatchObject({ url: 'https://u', caption: 'new' });
  });
});

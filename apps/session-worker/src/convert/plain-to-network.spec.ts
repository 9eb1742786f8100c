import type { StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { contentFromNetwork } from './content-from-network.js';
import { forwardToNetwork } from './forward-to-network.js';
import { contactToNetwork, firstLink, locationToNetwork, pictureOf, pollToNetwork } from './plain-to-network.js';

const to = '15550001111';
/** What a receiver reads out of what is sent. */
const received = (content: proto.IMessage) =>
  contentFromNetwork(proto.Message.decode(proto.Message.encode(content).finish()), {
    mediaId: () => 'x',
    contactOf: () => undefined,
  });

describe('plain messages', () => {
  it('are shown to their sender as their receiver sees them', () => {
    const preview = `data:image/jpeg;base64,${Buffer.from('jpeg').toString('base64')}`;
    const place = {
      to,
      latitude: 1.5,
      longitude: -2.25,
      name: 'Office',
      address: 'Main St 1',
      url: 'https://x',
      preview,
    };
    const poll = { to, title: 'Lunch?', options: ['Noodles', 'Rice'], count: 1 };
    for (const { content, shown } of [
      locationToNetwork(place, undefined),
      contactToNetwork({ to, name: 'Ada', vcard: 'BEGIN:VCARD\nEND:VCARD' }, undefined),
      pollToNetwork(poll, Buffer.alloc(32, 1), undefined),
      pollToNetwork({ ...poll, count: 0 }, Buffer.alloc(32, 1), undefined),
    ]) {
      expect(received(content)).toMatchObject({ type: shown.type, fields: { [shown.type]: shown[shown.type] } });
    }
  });

  it('carry their context', () => {
    const contextInfo = { expiration: 60 };
    const { content } = locationToNetwork({ to, latitude: 0, longitude: 0 }, contextInfo);
    expect(received(content)?.contextInfo).toMatchObject(contextInfo);
  });

  it.each([
    ['see https://shop.example.com/p/1.', 'https://shop.example.com/p/1'],
    ['(https://a.example/x_(y))', 'https://a.example/x_(y)'],
    ['"http://a.example/?q=1", he said', 'http://a.example/?q=1'],
    ['https://', undefined],
    ['mail me at a@b.example', undefined],
  ])('find the link in %s', (text, link) => {
    expect(firstLink(text)).toBe(link);
  });

  it('read a small picture from a data: URI only', () => {
    expect(pictureOf('data:image/jpeg;base64,aGk=')?.toString()).toBe('hi');
    expect(pictureOf('https://a.example/x.jpg')).toBeUndefined();
    expect(pictureOf(undefined)).toBeUndefined();
  });
});

describe('forwards', () => {
  const stored = (content: proto.IMessage, fields: Partial<StoredMessage['message']> = {}): StoredMessage => ({
    message: {
      id: 'pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w',
      type: 'text',
      chat_id: '15550001111@s.whatsapp.net',
      from_me: false,
      source: 'mobile',
      timestamp: 1,
      text: { body: 'Hello' },
      context: { quoted_id: 'older', forwarding_score: 2 },
      ...fields,
    },
    key: { id: 'A5C3', remote: '900000000001@lid' },
    proto: Buffer.from(proto.Message.encode(content).finish()),
  });

  it('have the same content, marked once more, without quote and secret', () => {
    const contextInfo = { stanzaId: 'older', forwardingScore: 2 };
    const messageContextInfo = { messageSecret: Buffer.alloc(32) };
    const forward = forwardToNetwork(
      stored({ extendedTextMessage: { text: 'Hello', contextInfo }, messageContextInfo }),
    );
    expect(forward?.content).toMatchObject({
      extendedTextMessage: { text: 'Hello', contextInfo: { isForwarded: true, forwardingScore: 3 } },
    });
    expect(Object.keys(forward?.content ?? {})).toEqual(['extendedTextMessage']);
    expect(forward?.content.extendedTextMessage?.contextInfo?.stanzaId).toBeUndefined();
    expect(forward?.shown).toEqual({
      type: 'text',
      text: { body: 'Hello' },
      context: { forwarded: true, forwarding_score: 3 },
    });
  });

  it('have the edited content', () => {
    const edited = { text: { body: 'Hello again' } };
    const preview = { text: 'Hello https://a.example', matchedText: 'https://a.example', title: 'A' };
    for (const content of [{ conversation: 'Hello' }, { extendedTextMessage: preview }]) {
      expect(forwardToNetwork(stored(content, edited))?.content).toEqual({
        extendedTextMessage: { text: 'Hello again', contextInfo: { isForwarded: true, forwardingScore: 3 } },
      });
    }
    const image = { id: 'x', mime_type: 'image/jpeg', file_size: 1, caption: 'New' };
    const picture = stored({ imageMessage: { url: 'https://u', caption: 'Old' } }, { type: 'image', image });
    expect(forwardToNetwork(picture)?.content.imageMessage).toMatchObject({ url: 'https://u', caption: 'New' });
  });

  it('of a plain text become an extended one, which can carry the mark', () => {
    const { content } = forwardToNetwork(stored({ conversation: 'Hello' })) ?? {};
    expect(content).toMatchObject({ extendedTextMessage: { text: 'Hello', contextInfo: { isForwarded: true } } });
  });

  it('are not made of what is deleted, an act, or not understood', () => {
    const text = { conversation: 'Hello' };
    expect(forwardToNetwork(stored(text, { status: 'deleted' }))).toBeUndefined();
    expect(forwardToNetwork(stored(text, { type: 'action' }))).toBeUndefined();
    expect(forwardToNetwork(stored(text, { type: 'unknown' }))).toBeUndefined();
    expect(forwardToNetwork({ ...stored(text), proto: undefined } as unknown as StoredMessage)).toBeUndefined();
  });
});

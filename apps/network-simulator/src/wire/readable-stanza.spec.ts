import { node } from './node.js';
import { readable, stanzaFrom } from './readable-stanza.js';

describe('a stanza as JSON', () => {
  it('shows text as text and other bytes as base64, and can be read back', () => {
    const stanza = node('message', { id: 'A1', to: '1@s.whatsapp.net' }, [
      node('enc', { v: '2' }, Buffer.from([0, 255, 7])),
      node('body', {}, Buffer.from('größer 👍')),
      node('empty'),
    ]);
    expect(readable(stanza)).toEqual({
      tag: 'message',
      attrs: { id: 'A1', to: '1@s.whatsapp.net' },
      content: [
        { tag: 'enc', attrs: { v: '2' }, content: { base64: 'AP8H' } },
        { tag: 'body', attrs: {}, content: 'größer 👍' },
        { tag: 'empty', attrs: {} },
      ],
    });
    expect(stanzaFrom(readable(stanza))).toEqual(stanza);
  });
});

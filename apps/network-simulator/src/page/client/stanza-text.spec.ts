import type { Stanza } from './api.js';
import { stanzaText } from './stanza-text.js';

const STANZA: Stanza = {
  tag: 'message',
  attrs: { id: '3A01', type: 'text' },
  content: [
    { tag: 'enc', attrs: { v: '2' }, content: { base64: 'AAEC' } },
    { tag: 'participants', attrs: {}, content: [] },
    { tag: 'note', content: 'say "hi"' },
  ],
};

describe('a stanza as text', () => {
  it('is JSON with one element a line', () => {
    expect(stanzaText(STANZA)).toBe(
      `{"tag": "message", "attrs": {"id":"3A01","type":"text"}, "content": [
  {"tag": "enc", "attrs": {"v":"2"}, "content": {"base64":"AAEC"}},
  {"tag": "participants", "attrs": {}, "content": []},
  {"tag": "note", "content": "say \\"hi\\""}
]}`,
    );
  });

  it('reads back as the same stanza', () => {
    expect(JSON.parse(stanzaText(STANZA))).toEqual(STANZA);
  });
});

import { getDevice, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { isWebClientId, openedByLibrary } from '../convert/library-opened.js';

const NAMES = Object.keys(proto.Message.create().toJSON()).length === 0 ? fieldNames() : [];

/** Every part that a message can have. */
function fieldNames(): string[] {
  const prototype: object = Object.getPrototypeOf(proto.Message.create()) as object;
  return Object.keys(prototype).filter((name) => name.endsWith('Message') || /MessageV\d/.test(name));
}

describe('what the library does to a message before it emits it', () => {
  it('is opening the wrappers that the conversion takes for opened, and no others', () => {
    expect(NAMES).toContain('groupStatusMessageV2');
    const inner = { conversation: 'Hello' };
    for (const name of NAMES) {
      const wrapped: proto.IMessage = { [name]: { message: inner } };
      expect([name, openedByLibrary(wrapped)]).toEqual([name, normalizeMessageContent(wrapped)]);
    }
  });

  it('is opening as many as the conversion takes for opened', () => {
    let wrapped: proto.IMessage = { conversation: 'Hello' };
    for (let depth = 0; depth < 8; depth += 1) {
      expect(openedByLibrary(wrapped)).toEqual(normalizeMessageContent(wrapped));
      wrapped = { ephemeralMessage: { message: wrapped } };
    }
  });

  it('is recognizing devices by the ids they make, as the conversion does', () => {
    const starts = ['3A', '3E', '3EB0', '3F', 'AC', '00'];
    for (const start of starts) {
      for (let length = 10; length <= 40; length += 1) {
        const id = start.padEnd(length, '7');
        const device = getDevice(id);
        expect([id, isWebClientId(id)]).toEqual([id, device === 'web' || device === 'desktop']);
      }
    }
  });
});

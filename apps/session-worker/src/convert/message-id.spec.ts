import { randomBytes, randomInt } from 'node:crypto';
import { MESSAGE_ID_PATTERN } from '@dormouse/gateway-contract';
import { toMessageId, type MessageName } from './message-id.js';

const ADA = '15550001111@s.whatsapp.net';
const GROUP = '120363000000000001@g.us';

describe('message ids', () => {
  it.each<[string, MessageName]>([
    ['PrAAAAAAAAAAEAA-wP4Dntov1w', { keyId: '3EB00000000000000010' + '00', fromMe: true, chatId: ADA }],
    ['pcMAAAAAAAAAAAAAAABQAA-gLgDntov1w', { keyId: 'A5C30000000000000000000000005000', fromMe: false, chatId: ADA }],
    ['PrAAAAAAAAAAEAI-wgABq52CwxmwAQ', { keyId: '3EB0000000000000001002', fromMe: true, chatId: GROUP }],
    [
      'pcMAAAAAAAAAAAAAAABT0Q-kowBq52CwxmwAQ-A57aNC4',
      { keyId: 'A5C300000000000000000000000053D1', fromMe: false, chatId: GROUP, participant: '15550002222' },
    ],
  ])('packs %s as published', (id, name) => {
    expect(toMessageId(name)).toBe(id);
  });

  it('are different for every form of key, under the published pattern', () => {
    const ids = new Map<string, string>();
    for (let round = 0; round < 3_000; round += 1) {
      const name = randomName();
      const id = toMessageId(name);
      expect(id).toMatch(MESSAGE_ID_PATTERN);
      const asText = JSON.stringify(name);
      expect(ids.get(id) ?? asText).toBe(asText);
      ids.set(id, asText);
    }
  });

  it('gives different names different ids', () => {
    const base: MessageName = { keyId: '3EB0AABBCC', fromMe: false, chatId: GROUP, participant: '15550002222' };
    const names: MessageName[] = [
      base,
      { ...base, fromMe: true },
      { ...base, participant: '15550002222@lid' },
      { ...base, chatId: '120363000000000002@g.us' },
      { ...base, chatId: '120363000000-000001@g.us' },
      { ...base, keyId: '3EB0AABBCD' },
      { keyId: base.keyId, fromMe: false, chatId: '15550002222@lid' },
      { keyId: base.keyId, fromMe: false, chatId: '15550002222@s.whatsapp.net' },
    ];
    expect(new Set(names.map(toMessageId)).size).toBe(names.length);
  });

  it.each<[string, Partial<MessageName>]>([
    ['not hexadecimal', { keyId: 'false_15550001111@c.us_3EB0' }],
    ['lower case', { keyId: '3eb0aabbcc' }],
    ['an odd number of digits', { keyId: '3EB0A' }],
    ['too short', { keyId: '3EB0' }],
    ['too long', { keyId: 'AB'.repeat(23) }],
    ['empty', { keyId: '' }],
  ])('makes an id of a hash for a key id that is %s', (_, odd) => {
    const name = { keyId: '3EB0AABBCC', fromMe: false, chatId: ADA, ...odd };
    const id = toMessageId(name);
    expect(id).toMatch(MESSAGE_ID_PATTERN);
    expect(isHashed(id)).toBe(true);
    expect(toMessageId(name)).toBe(id);
    expect(toMessageId({ ...name, fromMe: true })).not.toBe(id);
    expect(toMessageId({ ...name, chatId: GROUP })).not.toBe(id);
  });

  it.each(['0015550001111@s.whatsapp.net', '999999999999999999999@lid', '1-2-3@g.us', 'x@g.us'])(
    'makes an id of a hash for the chat %s',
    (chatId) => {
      const id = toMessageId({ keyId: '3EB0AABBCC', fromMe: false, chatId });
      expect(id).toMatch(MESSAGE_ID_PATTERN);
      expect(isHashed(id)).toBe(true);
    },
  );
});

/** The flag byte marks keys that do not fit. */
function isHashed(id: string): boolean {
  const flags = Buffer.from(id.split('-')[1] ?? '', 'base64')[0] ?? 0;
  return (flags & 0x0f) === 8;
}

function randomName(): MessageName {
  const digits = (least: number, most: number) => {
    const length = randomInt(least, most + 1);
    return Array.from({ length }, (_, index) => randomInt(index === 0 ? 1 : 0, 10)).join('');
  };
  const chats = [
    () => `${digits(7, 15)}@s.whatsapp.net`,
    () => `${digits(7, 19)}@lid`,
    () => `${digits(10, 19)}@g.us`,
    () => `${digits(10, 15)}-${digits(8, 12)}@g.us`,
  ];
  const chatId = chats[randomInt(chats.length)]?.() ?? ADA;
  const participant = randomInt(2) === 0 ? digits(7, 15) : `${digits(7, 15)}@lid`;
  return {
    keyId: randomBytes(randomInt(3, 23)).toString('hex').toUpperCase(),
    fromMe: randomInt(2) === 0,
    chatId,
    ...(chatId.endsWith('@g.us') && randomInt(2) === 0 && { participant }),
  };
}

import { createHash } from 'node:crypto';
import type { WAMessage } from '@whiskeysockets/baileys';
import { messageFromHistory } from './history-message.js';
import type { People } from './people.js';

const ADA = '15550001111@s.whatsapp.net';
const people: People = {
  own: { phone: '15550009999', lid: '900000000009' },
  numbers: new Map([['900000000002', '15550002222']]),
};
const key = { remoteJid: ADA, fromMe: true, id: '3A0000000000000000AA' };
const theirs = { remoteJid: ADA, fromMe: false, id: '3A0000000000000000BB' };
const ours = { remoteJid: ADA, fromMe: true, id: '3A0000000000000000CC' };
const read = (parts: Partial<WAMessage>) =>
  messageFromHistory({ key, messageTimestamp: 1_790_000_000, ...parts }, people)?.message;

describe('a message of the history', () => {
  it('has the reactions that were there before the link', () => {
    const message = read({
      message: { conversation: 'hello' },
      reactions: [
        { key: theirs, text: '👍', senderTimestampMs: 1_790_000_060_000 },
        { key: ours, text: '🎉', senderTimestampMs: 1_790_000_070_000 },
        { key: { ...theirs, id: '3A0000000000000000DD' }, text: '' },
      ],
    });
    expect(message?.reactions).toMatchObject([
      { emoji: '👍', author: '15550001111', t: 1_790_000_060, unread: true },
      { emoji: '🎉', author: '15550009999', t: 1_790_000_070, unread: false },
    ]);
  });

  it('of a group names who reacted', () => {
    const remoteJid = '120363000000000001@g.us';
    const reaction = { key: { ...theirs, remoteJid, participant: '900000000002@lid' }, text: '👍' };
    const message = { conversation: 'hello' };
    expect(read({ key: { ...key, remoteJid }, message, reactions: [reaction] })?.reactions).toMatchObject([
      { emoji: '👍', author: '15550002222' },
    ]);
  });

  it('has the votes of its poll', () => {
    const vote = { selectedOptions: [createHash('sha256').update('Noodles').digest()] };
    const message = read({
      message: {
        pollCreationMessageV3: { name: 'Lunch?', options: [{ optionName: 'Rice' }, { optionName: 'Noodles' }] },
      },
      pollUpdates: [
        { pollUpdateMessageKey: theirs, vote },
        { pollUpdateMessageKey: ours, vote },
      ],
    });
    expect(message?.poll).toMatchObject({
      total: 2,
      results: [{ count: 0 }, { count: 2, voters: ['15550001111', '15550009999'] }],
    });
  });
});

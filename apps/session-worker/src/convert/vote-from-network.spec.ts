import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import type { Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { pollOptionId } from './content-from-network.js';
import { toMessageId } from './message-id.js';
import type { People } from './people.js';
import { pollVotedOn, voteFromNetwork, withVote } from './vote-from-network.js';

const OWN = '15550009999';
const ADA = '15550001111';
const people: People = { own: { phone: OWN, lid: '900000000009' }, numbers: new Map([['900000000001', ADA]]) };
const secret = randomBytes(32);
const POLL_KEY = '3EB0AAAAAAAAAAAAAAAAAA';
const pollId = toMessageId({ keyId: POLL_KEY, fromMe: true, chatId: `${ADA}@s.whatsapp.net` });
const options = ['Noodles', 'Rice', 'Soup'];

function poll(fields: Partial<Message> = {}): StoredMessage {
  return {
    message: {
      id: pollId,
      type: 'poll',
      chat_id: `${ADA}@s.whatsapp.net`,
      from_me: true,
      from: OWN,
      source: 'api',
      timestamp: 1,
      poll: {
        title: 'Lunch?',
        options,
        total: 0,
        results: options.map((name) => ({ id: pollOptionId(name), name, count: 0, voters: [] })),
      },
      ...fields,
    },
    key: { id: POLL_KEY, remote: `${ADA}@s.whatsapp.net` },
    proto: Buffer.from(proto.Message.encode({ messageContextInfo: { messageSecret: secret } }).finish()),
  };
}

/** A vote as a phone seals it. */
function vote(
  chosen: string[],
  naming: { creator: string; voter: string },
  key: Partial<WAMessage['key']> = {},
): WAMessage {
  const { creator, voter } = naming;
  const selectedOptions = chosen.map((name) => createHash('sha256').update(name).digest());
  const base = createHmac('sha256', Buffer.alloc(32)).update(secret).digest();
  const sealing = createHmac('sha256', base).update(`${POLL_KEY}${creator}${voter}Poll Vote\u0001`).digest();
  const encIv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealing, encIv).setAAD(Buffer.from(`${POLL_KEY}\0${voter}`));
  const plain = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
  return {
    key: { remoteJid: '900000000001@lid', remoteJidAlt: `${ADA}@s.whatsapp.net`, fromMe: false, id: 'A5C3', ...key },
    messageTimestamp: 9,
    message: {
      pollUpdateMessage: {
        pollCreationMessageKey: { remoteJid: '900000000001@lid', fromMe: true, id: POLL_KEY },
        vote: { encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]), encIv },
      },
    },
  };
}

describe('votes', () => {
  it.each([
    { creator: `${OWN}@s.whatsapp.net`, voter: `${ADA}@s.whatsapp.net` },
    { creator: '900000000009@lid', voter: '900000000001@lid' },
    { creator: `${OWN}@s.whatsapp.net`, voter: '900000000001@lid' },
  ])('are opened in the naming they were sealed in: %j', (naming) => {
    const heard = vote(['Rice', 'Soup'], naming);
    expect(pollVotedOn(heard, people)).toBe(pollId);
    const action = voteFromNetwork(heard, people, poll());
    expect(action?.trigger.message).toMatchObject({
      type: 'action',
      from: ADA,
      action: { type: 'vote', target: pollId, votes: [pollOptionId('Rice'), pollOptionId('Soup')] },
    });
    const after = action?.change?.apply(poll().message);
    expect(after?.poll).toMatchObject({
      total: 2,
      results: [
        { name: 'Noodles', count: 0, voters: [] },
        { name: 'Rice', count: 1, voters: [ADA] },
        { name: 'Soup', count: 1, voters: [ADA] },
      ],
    });
  });

  it('of the own phone are opened, too', () => {
    const naming = { creator: '900000000009@lid', voter: '900000000009@lid' };
    const action = voteFromNetwork(vote(['Rice'], naming, { fromMe: true }), people, poll());
    expect(action?.trigger.message).toMatchObject({
      from_me: true,
      from: OWN,
      action: { votes: [pollOptionId('Rice')] },
    });
  });

  it('are told without what they say when the poll is not there or they cannot be opened', () => {
    const naming = { creator: 'x@lid', voter: 'y@lid' };
    for (const known of [undefined, poll()]) {
      const action = voteFromNetwork(vote(['Rice'], naming), people, known);
      expect(action?.trigger.message.action).toEqual({ type: 'vote', target: pollId });
      expect(action?.change).toBeUndefined();
    }
  });

  it('replace the one before, and are taken back by an empty one', () => {
    const first = withVote(poll().message, [pollOptionId('Rice')], ADA);
    const other = first && withVote(first, [pollOptionId('Rice')], OWN);
    expect(other?.poll?.results?.[1]).toMatchObject({ count: 2, voters: [ADA, OWN] });
    const changed = other && withVote(other, [pollOptionId('Soup')], ADA);
    expect(changed?.poll?.results?.map(({ voters }) => voters)).toEqual([[], [OWN], [ADA]]);
    expect((changed && withVote(changed, [], ADA))?.poll).toMatchObject({ total: 1 });
  });
});

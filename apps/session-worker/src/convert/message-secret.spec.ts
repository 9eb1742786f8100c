import { withMessageSecret } from './message-secret.js';

describe('the secret of a message', () => {
  const secret = Buffer.alloc(32, 7);
  const given = (content: Parameters<typeof withMessageSecret>[0]) =>
    withMessageSecret(content, () => secret).messageContextInfo?.messageSecret;

  it('is added to every kind of content, beside what its context info has already', () => {
    expect(given({ extendedTextMessage: { text: 'x' } })).toBe(secret);
    expect(given({ viewOnceMessage: { message: { imageMessage: {} } } })).toBe(secret);
    expect(given({ protocolMessage: { editedMessage: { conversation: 'x' } } })).toBe(secret);
    const associated = { messageContextInfo: { messageAssociation: { associationType: 10 } }, imageMessage: {} };
    expect(withMessageSecret(associated, () => secret).messageContextInfo).toEqual({
      messageAssociation: { associationType: 10 },
      messageSecret: secret,
    });
  });

  it('is left to polls that have theirs, and to reactions and votes that have none', () => {
    const own = Buffer.alloc(32, 9);
    expect(given({ messageContextInfo: { messageSecret: own }, pollCreationMessage: {} })).toBe(own);
    expect(given({ reactionMessage: { text: '👍' } })).toBeUndefined();
    expect(given({ pollUpdateMessage: {} })).toBeUndefined();
  });
});

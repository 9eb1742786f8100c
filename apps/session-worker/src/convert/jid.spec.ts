import {
  addressForms,
  authorOfKey,
  bareJid,
  chatIdOfKey,
  contactIdOf,
  contactJid,
  personChatId,
  personContactId,
  readJid,
} from './jid.js';

const ADA = '15550001111@s.whatsapp.net';
const ADA_LID = '900000000001@lid';
const numbers = new Map([['900000000001', '15550001111']]);

describe('addresses', () => {
  it('drops the device, on either kind of address', () => {
    expect(bareJid('15550001111:7@s.whatsapp.net')).toBe(ADA);
    expect(bareJid('900000000001:12@lid')).toBe(ADA_LID);
    expect(bareJid('15550001111_1:7@s.whatsapp.net')).toBe(ADA);
    expect(readJid('15550001111@c.us')).toEqual({ user: '15550001111', server: 's.whatsapp.net' });
    expect(readJid('900000000001:99@hosted.lid')).toEqual({ user: '900000000001', server: 'lid' });
  });

  it.each([undefined, null, '', '@s.whatsapp.net', 'status', 'x@'])('reads no address from %p', (text) => {
    expect(readJid(text)).toBeUndefined();
  });

  it('shows the number of a person wherever any source knows it', () => {
    expect(personChatId([ADA_LID, ADA])).toBe(ADA);
    expect(personChatId([ADA_LID, undefined], numbers)).toBe(ADA);
    expect(personContactId([ADA_LID, ADA])).toBe('15550001111');
  });

  it('never shows a LID as a number', () => {
    expect(personChatId([ADA_LID])).toBe(ADA_LID);
    expect(personContactId([`900000000001:3@lid`])).toBe(ADA_LID);
    expect(contactIdOf(ADA_LID)).toBe(ADA_LID);
  });

  it('finds the address of a contact id again', () => {
    expect(contactJid(contactIdOf(ADA))).toBe(ADA);
    expect(contactJid(contactIdOf(ADA_LID))).toBe(ADA_LID);
  });
});

describe('message keys', () => {
  it('is the same chat whichever address the network used', () => {
    expect(chatIdOfKey({ remoteJid: ADA, remoteJidAlt: ADA_LID })).toBe(ADA);
    expect(chatIdOfKey({ remoteJid: ADA_LID, remoteJidAlt: ADA })).toBe(ADA);
    expect(chatIdOfKey({ remoteJid: ADA_LID }, numbers)).toBe(ADA);
  });

  it('keeps groups, of the old dashed form too', () => {
    expect(chatIdOfKey({ remoteJid: '15550001111-1500000000@g.us' })).toBe('15550001111-1500000000@g.us');
  });

  it('reads a message to a broadcast list as one of its author', () => {
    expect(chatIdOfKey({ remoteJid: '123@broadcast', participant: ADA_LID, participantAlt: ADA })).toBe(ADA);
  });

  it.each(['status@broadcast', '120363000000000001@newsletter', '0@s', undefined])(
    'has no chat for %p',
    (remoteJid) => {
      expect(chatIdOfKey({ remoteJid, participant: ADA })).toBeUndefined();
    },
  );

  it('names the author in groups and in chats of two', () => {
    expect(
      authorOfKey({ remoteJid: '120363000000000001@g.us', participant: '900000000001:2@lid', participantAlt: ADA }),
    ).toBe('15550001111');
    expect(authorOfKey({ remoteJid: ADA_LID })).toBe(ADA_LID);
  });

  it('lists every form of its addresses once, without devices', () => {
    expect(
      addressForms({ remoteJid: '15550001111:2@s.whatsapp.net', remoteJidAlt: ADA_LID, participant: ADA }),
    ).toEqual([ADA, ADA_LID]);
  });
});

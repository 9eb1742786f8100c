import { WAMessageStubType } from '../socket/test-library.js';
import { groupChange, groupFromNetwork } from './group.js';
import { messageFromNetwork } from './message-from-network.js';
import { ADA, ADA_LID, GROUP, received, OWN, OWN_LID, people, shownMessage } from './test-messages.js';
import { textToNetwork } from './message-to-network.js';
import { withNames } from './names-in-text.js';

const inGroup = { remoteJid: GROUP, remoteJidAlt: undefined, participant: `${ADA_LID}@lid` };
const mentionedJid = [`${OWN_LID}@lid`, '900000000002@lid', '900000000007@lid'];
const written = `@${OWN_LID} ask @900000000002, not @900000000007 or a@15`;
const read = `@${OWN} ask @15550002222, not @900000000007@lid or a@15`;

describe('people named in texts', () => {
  it('are named by the ids of the mentions', () => {
    const message = shownMessage({ extendedTextMessage: { text: written, contextInfo: { mentionedJid } } }, inGroup);
    expect(message?.text?.body).toBe(read);
    expect(message?.context?.mentions).toEqual([OWN, '15550002222', '900000000007@lid']);
  });

  it('are so on contact cards', () => {
    const card = (waid: string) => `BEGIN:VCARD\nTEL;type=CELL;waid=${waid}:+1 555\nEND:VCARD`;
    const shown = shownMessage({ contactMessage: { displayName: 'Ada', vcard: card(ADA_LID) } }, inGroup);
    expect(shown?.contact?.vcard).toBe(card(ADA));
    const contacts = [{ vcard: card('15550003333') }, { vcard: card(OWN_LID) }];
    const list = shownMessage({ contactsArrayMessage: { contacts } }, inGroup)?.contact_list?.list;
    expect(list?.map(({ vcard }) => vcard)).toEqual([card('15550003333'), card(OWN)]);
  });

  it('are so in names and descriptions of groups, and in what the chat shows of them', () => {
    const text = `ask @${ADA_LID}`;
    const described = { id: GROUP, owner: undefined, subject: text, desc: text, descId: 'd', participants: [] };
    expect(groupFromNetwork(described, people).facts).toMatchObject({
      name: `ask @${ADA}`,
      description: `ask @${ADA}`,
    });
    const stub = { messageStubType: WAMessageStubType.GROUP_CHANGE_SUBJECT, messageStubParameters: [text] };
    const notice = { ...received({}, inGroup), ...stub, message: undefined };
    expect(messageFromNetwork(notice, people)?.message.system?.body).toBe(
      `${ADA} changed the subject to "ask @${ADA}"`,
    );
    const before = groupFromNetwork({ ...described, subject: 'old' }, people);
    expect(groupChange(notice, people)?.(before)?.facts.name).toBe(`ask @${ADA}`);
  });

  it('are so in captions, quotes, buttons and polls, too', () => {
    const contextInfo = { mentionedJid };
    expect(shownMessage({ imageMessage: { caption: written, contextInfo } }, inGroup)?.image?.caption).toBe(read);
    const quote = { stanzaId: 'A1', participant: `${ADA_LID}@lid`, quotedMessage: { conversation: `hi @${OWN_LID}` } };
    const quoting = shownMessage({ extendedTextMessage: { text: 'x', contextInfo: quote } }, inGroup);
    expect(quoting?.context).toMatchObject({ quoted_author: ADA, quoted_content: { body: `hi @${OWN}` } });
    const buttons = [{ buttonText: { displayText: `call @${ADA_LID}` } }];
    const withButtons = shownMessage({ buttonsMessage: { contentText: written, contextInfo, buttons } }, inGroup);
    expect(withButtons?.buttons).toMatchObject({ text: read, buttons: [{ text: `call @${ADA}` }] });
    const poll = { name: `@${ADA_LID}?`, options: [{ optionName: `@${OWN_LID}` }] };
    expect(shownMessage({ pollCreationMessage: poll }, inGroup)?.poll).toMatchObject({
      title: `@${ADA}?`,
      options: [`@${OWN}`],
    });
  });

  it('are left alone where they are none', () => {
    const text = `@12345678901234 @${OWN_LID}@lid ${OWN_LID}`;
    expect(withNames({ text: { body: text } }, [], people).text?.body).toBe(text);
    expect(withNames({ link_preview: { body: 'x', url: `https://x.example/@${ADA_LID}` } }, [], people)).toEqual({
      link_preview: { body: 'x', url: `https://x.example/@${ADA_LID}` },
    });
  });

  it('who are known by LID alone are written as clients write them', () => {
    expect(textToNetwork('@900000000007@lid hi', { mentionedJid: ['900000000007@lid'] })).toMatchObject({
      extendedTextMessage: { text: '@900000000007 hi' },
    });
    expect(textToNetwork(`@${ADA} hi`, { mentionedJid: [`${ADA}@s.whatsapp.net`] })).toMatchObject({
      extendedTextMessage: { text: `@${ADA} hi` },
    });
  });
});

describe('people elsewhere', () => {
  it('are named by number: the seller of an order, the owner of a catalog', () => {
    const orderMessage = { orderId: '1', sellerJid: `${OWN_LID}@lid`, status: 1 };
    expect(shownMessage({ orderMessage })?.order).toMatchObject({ seller: OWN, status: 'new' });
    expect(
      shownMessage({ productMessage: { businessOwnerJid: `${ADA_LID}@lid`, product: {} } })?.product?.catalog_id,
    ).toBe(ADA);
    expect(shownMessage({ orderMessage: { orderId: '1', sellerJid: '900000000007@lid' } })?.order?.seller).toBe(
      '900000000007@lid',
    );
    expect(shownMessage({ orderMessage: { orderId: '1', sellerJid: '123' } })?.order?.seller).toBeUndefined();
  });
});

import { ADA, ADA_LID, GROUP, OWN, OWN_LID, people, told } from './test-heard.js';
import { textToNetwork } from './message-to-network.js';
import { withNames } from './names-in-text.js';

const inGroup = { remoteJid: GROUP, remoteJidAlt: undefined, participant: `${ADA_LID}@lid` };
const mentionedJid = [`${OWN_LID}@lid`, '900000000002@lid', '900000000007@lid'];
const written = `@${OWN_LID} ask @900000000002, not @900000000007 or a@15`;
const read = `@${OWN} ask @15550002222, not @900000000007@lid or a@15`;

describe('people named in texts', () => {
  it('are named by the ids of the mentions', () => {
    const message = told({ extendedTextMessage: { text: written, contextInfo: { mentionedJid } } }, inGroup);
    expect(message?.text?.body).toBe(read);
    expect(message?.context?.mentions).toEqual([OWN, '15550002222', '900000000007@lid']);
  });

  it('are so in captions, quotes, buttons and polls, too', () => {
    const contextInfo = { mentionedJid };
    expect(told({ imageMessage: { caption: written, contextInfo } }, inGroup)?.image?.caption).toBe(read);
    const quote = { stanzaId: 'A1', participant: `${ADA_LID}@lid`, quotedMessage: { conversation: `hi @${OWN_LID}` } };
    const quoting = told({ extendedTextMessage: { text: 'x', contextInfo: quote } }, inGroup);
    expect(quoting?.context).toMatchObject({ quoted_author: ADA, quoted_content: { body: `hi @${OWN}` } });
    const buttons = [{ buttonText: { displayText: `call @${ADA_LID}` } }];
    const asked = told({ buttonsMessage: { contentText: written, contextInfo, buttons } }, inGroup);
    expect(asked?.buttons).toMatchObject({ text: read, buttons: [{ text: `call @${ADA}` }] });
    const poll = { name: `@${ADA_LID}?`, options: [{ optionName: `@${OWN_LID}` }] };
    expect(told({ pollCreationMessage: poll }, inGroup)?.poll).toMatchObject({
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
    expect(told({ orderMessage })?.order).toMatchObject({ seller: OWN, status: 'new' });
    expect(told({ productMessage: { businessOwnerJid: `${ADA_LID}@lid`, product: {} } })?.product?.catalog_id).toBe(
      ADA,
    );
    expect(told({ orderMessage: { orderId: '1', sellerJid: '900000000007@lid' } })?.order?.seller).toBe(
      '900000000007@lid',
    );
    expect(told({ orderMessage: { orderId: '1', sellerJid: '123' } })?.order?.seller).toBeUndefined();
  });
});

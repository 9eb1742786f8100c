import { proto } from '@whiskeysockets/baileys';
import { contentWithFile } from './file-part.js';
import { forwardToNetwork } from './forward-to-network.js';
import { ADA, GROUP, OWN_LID, received, shownMessage } from './test-messages.js';
import { actionFromNetwork } from './change-from-network.js';
import { people } from './test-messages.js';

const image = { mimetype: 'image/jpeg', fileLength: 7, mediaKey: Buffer.alloc(32, 1), directPath: '/x' };
const hydrated = {
  hydratedTitleText: 'Order confirmed',
  hydratedContentText: 'Order 123 is on its way',
  hydratedFooterText: 'Example Shop',
  hydratedButtons: [
    { index: 0, urlButton: { displayText: 'Track', url: 'https://shop.example/t/123' } },
    { index: 1, callButton: { displayText: 'Call', phoneNumber: '+15550003333' } },
    { index: 2, quickReplyButton: { displayText: 'Stop', id: 'stop' } },
  ],
};
const hsm = {
  header: { type: 'text', text: { body: 'Order confirmed' } },
  body: 'Order 123 is on its way',
  footer: 'Example Shop',
  buttons: [
    { type: 'url', text: 'Track', url: 'https://shop.example/t/123' },
    { type: 'phone_number', text: 'Call', phone_number: '+15550003333' },
    { type: 'reply', text: 'Stop', id: 'stop' },
  ],
};

describe('templates', () => {
  it.each<[string, proto.IMessage]>([
    ['as clients see it', { templateMessage: { hydratedTemplate: hydrated } }],
    ['in its older form', { templateMessage: { hydratedFourRowTemplate: hydrated } }],
    ['inside a structured message', { highlyStructuredMessage: { hydratedHsm: { hydratedTemplate: hydrated } } }],
    ['in a wrapper', { ephemeralMessage: { message: { templateMessage: { hydratedTemplate: hydrated } } } }],
  ])('are shown with text and buttons: one %s', (_, content) => {
    expect(shownMessage(content)).toMatchObject({ type: 'hsm', hsm });
  });

  it('that are not filled in are shown by their parameters', () => {
    const fourRowTemplate = {
      highlyStructuredMessage: { params: ['Receipt'] },
      content: { localizableParams: [{ default: '12 May' }, { default: 'EUR 7' }] },
      footer: { elementName: 'thanks' },
      buttons: [
        { index: 0, quickReplyButton: { id: 'ok', displayText: { params: ['OK'] } } },
        { index: 1, urlButton: { displayText: { params: ['See'] }, url: { params: ['https://a.example'] } } },
      ],
    };
    expect(shownMessage({ templateMessage: { fourRowTemplate } })?.hsm).toEqual({
      header: { type: 'text', text: { body: 'Receipt' } },
      body: '12 May EUR 7',
      footer: 'thanks',
      buttons: [
        { type: 'reply', text: 'OK', id: 'ok' },
        { type: 'url', text: 'See', url: 'https://a.example' },
      ],
    });
    const alone = shownMessage({ highlyStructuredMessage: { elementName: 'sample_welcome', params: ['Ada', '7'] } });
    expect(alone).toMatchObject({ type: 'hsm', hsm: { body: 'Ada 7' } });
  });

  it('may be interactive messages', () => {
    const interactiveMessageTemplate = { body: { text: 'Choose' }, nativeFlowMessage: { buttons: [] } };
    expect(shownMessage({ templateMessage: { interactiveMessageTemplate } })).toMatchObject({
      type: 'interactive',
      interactive: { body: { text: 'Choose' } },
    });
  });

  it.each([
    ['imageMessage', 'image'],
    ['videoMessage', 'video'],
    ['documentMessage', 'document'],
  ] as const)('have a file in the header that can be downloaded: %s', (part, type) => {
    const content = { templateMessage: { hydratedTemplate: { ...hydrated, hydratedTitleText: null, [part]: image } } };
    const message = shownMessage(content);
    expect(message?.hsm?.header).toMatchObject({ type, [type]: { file_size: 7, id: expect.any(String) as unknown } });
    expect(contentWithFile(received(content).message)?.[part]?.directPath).toBe('/x');
  });

  it('are shown when they are quoted, and when they are edited', () => {
    const contextInfo = { stanzaId: 'A1', participant: `${ADA}@s.whatsapp.net` };
    const quote = { ...contextInfo, quotedMessage: { templateMessage: { hydratedTemplate: hydrated } } };
    expect(shownMessage({ extendedTextMessage: { text: 'this', contextInfo: quote } })?.context).toMatchObject({
      quoted_type: 'hsm',
      quoted_content: hsm,
    });
    const editedMessage = { templateMessage: { hydratedTemplate: hydrated } };
    const edit = actionFromNetwork(
      received({ protocolMessage: { type: 14, key: { id: 'A1' }, editedMessage } }),
      people,
    );
    expect(edit?.trigger.message.action).toMatchObject({ edited_type: 'hsm', edited_content: hsm });
  });

  it('are not forwarded', () => {
    const content = { templateMessage: { hydratedTemplate: hydrated } };
    const message = shownMessage(content);
    const bytes = Buffer.from(proto.Message.encode(content).finish());
    expect(message && forwardToNetwork({ message, key: { id: 'A1', remote: ADA }, proto: bytes })).toBeUndefined();
  });
});

describe('buttons and lists', () => {
  it('are shown with their text', () => {
    const buttonsMessage = {
      text: 'Hello',
      contentText: 'Which?',
      footerText: 'Shop',
      buttons: [
        { buttonId: 'a', buttonText: { displayText: 'A' }, type: 1 },
        { type: 2, nativeFlowInfo: { name: 'cta_url', paramsJson: '{"id":"b","display_text":"B"}' } },
      ],
    };
    expect(shownMessage({ buttonsMessage })).toMatchObject({
      type: 'buttons',
      buttons: {
        header: { type: 'text', text: { body: 'Hello' } },
        text: 'Which?',
        footer: 'Shop',
        buttons: [
          { id: 'a', text: 'A', type: 'RESPONSE' },
          { id: 'b', text: 'B', type: 'NATIVE_FLOW' },
        ],
      },
    });
    const pictured = { buttonsMessage: { contentText: 'Which?', imageMessage: image } };
    expect(shownMessage(pictured)?.buttons?.header).toMatchObject({ type: 'image', image: { file_size: 7 } });
    expect(contentWithFile(received(pictured).message)?.imageMessage?.directPath).toBe('/x');
  });

  it('lists are shown with sections and rows, those of products with product ids', () => {
    const rows = [{ rowId: 'r1', title: 'Soup', description: 'hot' }];
    const listMessage = {
      title: 'Menu',
      description: 'Today',
      buttonText: 'Open',
      footerText: 'Bon appetit',
      sections: [{ title: 'Starters', rows }],
      productListInfo: { productSections: [{ title: 'Jars', products: [{ productId: 'p1' }] }] },
    };
    expect(shownMessage({ listMessage })).toMatchObject({
      type: 'list',
      list: {
        header: 'Menu',
        body: 'Today',
        label: 'Open',
        footer: 'Bon appetit',
        sections: [
          { title: 'Starters', rows: [{ id: 'r1', title: 'Soup', description: 'hot' }] },
          { title: 'Jars', rows: [{ id: 'p1' }] },
        ],
      },
    });
  });
});

describe('interactive messages', () => {
  const button = (name: string, parameters: unknown) => ({ name, buttonParamsJson: JSON.stringify(parameters) });

  it('are shown with text and buttons, whatever the buttons are called', () => {
    const interactiveMessage = {
      header: { title: 'Shipped', subtitle: 'today' },
      body: { text: 'Your order has shipped.' },
      footer: { text: 'Shop' },
      nativeFlowMessage: {
        buttons: [
          button('cta_url', { display_text: 'Track', url: 'https://shop.example/1' }),
          button('cta_call', { display_text: 'Call', phone_number: '+15550003333' }),
          button('cta_copy', { display_text: 'Copy', copy_code: 'SAVE10', id: 'code' }),
          button('quick_reply', { display_text: 'Thanks', id: 'thanks' }),
          button('galaxy_message', { flow_cta: 'Book', flow_id: 'f1' }),
          { name: 'payment_info', buttonParamsJson: '{broken' },
        ],
      },
    };
    expect(shownMessage({ interactiveMessage })).toMatchObject({
      type: 'interactive',
      interactive: {
        header: { text: 'Shipped\ntoday' },
        body: { text: 'Your order has shipped.' },
        footer: { text: 'Shop' },
        type: 'button',
        action: {
          buttons: [
            { type: 'url', title: 'Track', id: 'cta_url', url: 'https://shop.example/1' },
            { type: 'call', title: 'Call', id: 'cta_call', phone_number: '+15550003333' },
            { type: 'copy', title: 'Copy', id: 'code', copy_code: 'SAVE10' },
            { type: 'quick_reply', title: 'Thanks', id: 'thanks' },
            { type: 'quick_reply', title: 'Book', id: 'f1' },
            { type: 'quick_reply', title: 'payment_info', id: 'payment_info' },
          ],
        },
      },
    });
  });

  it('are shown with the list behind their button', () => {
    const sections = [{ title: 'Soups', rows: [{ id: 'r1', title: 'Pea', description: 'green' }, 7] }];
    const buttons = [button('single_select', { title: 'Open', sections })];
    const { interactive } = shownMessage({ interactiveMessage: { nativeFlowMessage: { buttons } } }) ?? {};
    expect(interactive).toMatchObject({
      type: 'list',
      action: {
        list: {
          label: 'Open',
          sections: [{ title: 'Soups', rows: [{ id: 'r1', title: 'Pea', description: 'green' }] }],
        },
      },
    });
  });

  it('are shown with their product, its catalog by number', () => {
    const header = { productMessage: { businessOwnerJid: `${OWN_LID}@lid`, product: { productId: 'p1' } } };
    const { interactive } = shownMessage({ interactiveMessage: { header } }) ?? {};
    expect(interactive).toMatchObject({
      type: 'product',
      action: { product: { catalog_id: '15550009999', product_id: 'p1' } },
    });
    const collection = shownMessage({
      interactiveMessage: { collectionMessage: { bizJid: `${ADA}@s.whatsapp.net`, id: 'c1' } },
    });
    expect(collection?.interactive?.action.product).toEqual({ catalog_id: ADA, product_id: 'c1' });
    const shop = shownMessage({ interactiveMessage: { shopStorefrontMessage: { id: 's1' } } });
    expect(shop?.interactive?.action.product).toEqual({ product_id: 's1' });
  });

  it('of a carousel are shown card by card, with its first file', () => {
    const cards = ['One', 'Two'].map((text) => ({
      header: { imageMessage: image },
      body: { text },
      nativeFlowMessage: { buttons: [button('quick_reply', { display_text: `Take ${text}`, id: text })] },
    }));
    const content = { interactiveMessage: { body: { text: 'Offers' }, carouselMessage: { cards } } };
    expect(shownMessage(content)?.interactive).toMatchObject({
      file_size: 7,
      body: { text: 'Offers' },
      action: { buttons: [{ title: 'Take One' }, { title: 'Take Two' }] },
      cards: [{ body: { text: 'One' } }, { body: { text: 'Two' } }],
    });
    expect(contentWithFile(received(content).message)?.imageMessage?.directPath).toBe('/x');
  });
});

describe('choices', () => {
  const answer = (name: string, paramsJson: string, words = 'Soup') =>
    shownMessage(
      { interactiveResponseMessage: { body: { text: words }, nativeFlowResponseMessage: { name, paramsJson } } },
      { remoteJid: GROUP, remoteJidAlt: undefined, participant: '900000000002@lid' },
    );

  it.each(['menu_options', 'single_select'])('in a list of today are replies: %s', (name) => {
    expect(answer(name, '{"title":"Soup","id":"r1","description":"hot"}')).toMatchObject({
      type: 'reply',
      from: '15550002222',
      reply: { type: 'list_reply', list_reply: { id: 'r1', title: 'Soup', description: 'hot' } },
    });
  });

  it('among buttons are replies with id and title', () => {
    expect(answer('quick_reply', '{"id":"yes","display_text":"Yes"}')?.reply).toEqual({
      type: 'buttons_reply',
      buttons_reply: { id: 'yes', title: 'Yes' },
    });
    expect(answer('cta_copy', '{"id":"code"}')?.reply?.buttons_reply).toEqual({ id: 'code', title: 'Soup' });
  });

  it('of forms are shown with what was filled in', () => {
    expect(answer('flow', '{"flow_token":"t","name":"Ada"}', 'Sent')?.reply).toEqual({
      type: 'buttons_reply',
      buttons_reply: { id: 'flow', title: 'Sent' },
      form: { name: 'flow', values: { flow_token: 't', name: 'Ada' } },
    });
  });

  it.each(['{broken', '', 'null', '[1]', '"text"'])('are shown by their text when the parameters are %j', (broken) => {
    expect(answer('menu_options', broken)?.reply).toEqual({
      type: 'list_reply',
      list_reply: { id: 'menu_options', title: 'Soup' },
    });
    expect(answer('address_message', broken)?.reply).toMatchObject({ buttons_reply: { title: 'Soup' } });
  });
});

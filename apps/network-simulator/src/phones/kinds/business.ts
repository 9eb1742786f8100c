import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import { kind, storedMessage, type KindPlace } from './kind.js';

const button = z.discriminatedUnion('type', [
  z.object({ type: z.literal('url'), text: z.string(), url: z.string() }),
  z.object({ type: z.literal('call'), text: z.string(), phone: z.string() }),
  z.object({ type: z.literal('reply'), text: z.string(), id: z.string() }),
  z.object({ type: z.literal('copy'), text: z.string(), code: z.string() }),
]);
const rows = z.array(z.object({ id: z.string(), title: z.string(), description: z.string().optional() })).min(1);
const sections = z.array(z.object({ title: z.string(), rows })).min(1);
const words = { header: z.string().optional(), body: z.string(), footer: z.string().optional() };
const card = z.object({ ...words, buttons: z.array(button).default([]) });

type Button = z.infer<typeof button>;
type Card = z.infer<typeof card>;

/** A button as native flows carry it: a name, and its parameters as JSON. */
function flowButton(given: Button): proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton {
  const display_text = given.text;
  switch (given.type) {
    case 'url':
      return flow('cta_url', { display_text, url: given.url, merchant_url: given.url });
    case 'call':
      return flow('cta_call', { display_text, phone_number: given.phone });
    case 'copy':
      return flow('cta_copy', { display_text, copy_code: given.code });
    case 'reply':
      return flow('quick_reply', { display_text, id: given.id });
  }
}

const flow = (name: string, params: object) => ({ name, buttonParamsJson: JSON.stringify(params) });

function interactive(given: Card, contextInfo?: proto.IContextInfo): proto.Message.IInteractiveMessage {
  return {
    ...(given.header !== undefined && { header: { title: given.header } }),
    body: { text: given.body },
    ...(given.footer !== undefined && { footer: { text: given.footer } }),
    ...(contextInfo && { contextInfo }),
  };
}

function templateButton(given: Button, index: number): proto.IHydratedTemplateButton {
  const displayText = given.text;
  if (given.type === 'url') return { index, urlButton: { displayText, url: given.url } };
  if (given.type === 'call') return { index, callButton: { displayText, phoneNumber: given.phone } };
  return { index, quickReplyButton: { displayText, id: given.type === 'reply' ? given.id : given.code } };
}

/** The context of an answer: it quotes what it answers. */
function answering({ phone, contextInfo }: KindPlace, id: string): proto.IContextInfo {
  const answered = storedMessage(phone, id);
  return { ...contextInfo, stanzaId: answered.id, participant: answered.from };
}

const target = z.string().min(1).describe('Id of the message that is answered.');

/** What businesses send, and how people answer it. */
export const businessKinds = {
  template: kind(card.describe('A template: header, body, footer, buttons.'), (given, { contextInfo }) => {
    const hydrated = {
      ...(given.header !== undefined && { hydratedTitleText: given.header }),
      hydratedContentText: given.body,
      ...(given.footer !== undefined && { hydratedFooterText: given.footer }),
      hydratedButtons: given.buttons.map(templateButton),
    };
    return {
      content: { templateMessage: { hydratedTemplate: hydrated, hydratedFourRowTemplate: hydrated, contextInfo } },
    };
  }),
  templateAnswer: kind(
    z.object({ id: target, button: z.string(), text: z.string(), index: z.number().int().min(0).default(0) }),
    ({ id, button: selectedId, text, index }, place) => ({
      content: {
        templateButtonReplyMessage: {
          selectedId,
          selectedDisplayText: text,
          selectedIndex: index,
          contextInfo: answering(place, id),
        },
      },
    }),
  ),
  interactive: kind(
    card.extend({ list: z.object({ text: z.string(), sections }).optional() }).describe('Buttons or a list of today.'),
    ({ list, ...given }, { contextInfo }) => {
      const buttons = given.buttons.map(flowButton);
      if (list) buttons.push(flow('single_select', { title: list.text, sections: list.sections }));
      const nativeFlowMessage = { buttons, messageVersion: 1 };
      return { content: { interactiveMessage: { ...interactive(given, contextInfo), nativeFlowMessage } } };
    },
  ),
  carousel: kind(z.object({ body: z.string(), cards: z.array(card).min(1) }), ({ body, cards }, { contextInfo }) => ({
    content: {
      interactiveMessage: {
        ...interactive({ body, buttons: [] }, contextInfo),
        carouselMessage: {
          messageVersion: 1,
          cards: cards.map((one) => ({
            ...interactive(one),
            nativeFlowMessage: { buttons: one.buttons.map(flowButton), messageVersion: 1 },
          })),
        },
      },
    },
  })),
  interactiveAnswer: kind(
    z.object({
      id: target,
      text: z.string(),
      flow: z.string().default('menu_options').describe('Name of the flow, such as menu_options or quick_reply.'),
      params: z.record(z.string(), z.unknown()).describe('For a choice: id, title and description of the row.'),
    }),
    ({ id, text, flow: name, params }, place) => ({
      content: {
        interactiveResponseMessage: {
          body: { text },
          nativeFlowResponseMessage: { name, paramsJson: JSON.stringify(params), version: 3 },
          contextInfo: answering(place, id),
        },
      },
    }),
  ),
  buttons: kind(
    z
      .object({ ...words, buttons: z.array(z.object({ id: z.string(), text: z.string() })).min(1) })
      .describe('The older buttons.'),
    ({ header, body, footer, buttons }, { contextInfo }) => ({
      content: {
        buttonsMessage: {
          ...(header !== undefined && { text: header }),
          headerType: header === undefined ? 1 : 2,
          contentText: body,
          ...(footer !== undefined && { footerText: footer }),
          buttons: buttons.map(({ id, text }) => ({ buttonId: id, buttonText: { displayText: text }, type: 1 })),
          contextInfo,
        },
      },
    }),
  ),
  buttonAnswer: kind(
    z.object({ id: target, button: z.string(), text: z.string() }),
    ({ id, button: selectedButtonId, text }, place) => ({
      content: {
        buttonsResponseMessage: {
          selectedButtonId,
          selectedDisplayText: text,
          type: 1,
          contextInfo: answering(place, id),
        },
      },
    }),
  ),
  list: kind(
    z.object({ ...words, button: z.string(), sections }).describe('The older list.'),
    ({ header, body, footer, button: buttonText, sections: given }, { contextInfo }) => ({
      content: {
        listMessage: {
          title: header ?? '',
          description: body,
          ...(footer !== undefined && { footerText: footer }),
          buttonText,
          listType: 1,
          sections: given.map(({ title, rows: listed }) => ({
            title,
            rows: listed.map(({ id, ...row }) => ({ ...row, rowId: id })),
          })),
          contextInfo,
        },
      },
    }),
  ),
  listAnswer: kind(
    z.object({ id: target, row: z.string(), title: z.string(), description: z.string().optional() }),
    ({ id, row, title, description }, place) => ({
      content: {
        listResponseMessage: {
          title,
          ...(description !== undefined && { description }),
          listType: 1,
          singleSelectReply: { selectedRowId: row },
          contextInfo: answering(place, id),
        },
      },
    }),
  ),
  product: kind(
    z.object({
      seller: z.string().describe('Digits or an address.'),
      id: z.string(),
      title: z.string(),
      description: z.string().optional(),
      currency: z.string().length(3).default('SGD'),
      price: z.number().min(0).default(0),
    }),
    ({ seller, id, price, currency, ...given }, { contextInfo }) => ({
      content: {
        productMessage: {
          businessOwnerJid: address(seller),
          product: { productId: id, currencyCode: currency, priceAmount1000: Math.round(price * 1000), ...given },
          contextInfo,
        },
      },
    }),
  ),
  order: kind(
    z.object({
      seller: z.string().describe('Digits or an address.'),
      id: z.string(),
      items: z.number().int().min(1).default(1),
      title: z.string().default(''),
      text: z.string().default(''),
      token: z.string().default('token'),
      currency: z.string().length(3).default('SGD'),
      total: z.number().min(0).default(0),
    }),
    ({ seller, id, items, title, text, token, currency, total }, { contextInfo }) => ({
      content: {
        orderMessage: {
          orderId: id,
          itemCount: items,
          status: 1,
          surface: 1,
          message: text,
          orderTitle: title,
          sellerJid: address(seller),
          token,
          totalAmount1000: Math.round(total * 1000),
          totalCurrencyCode: currency,
          contextInfo,
        },
      },
    }),
  ),
};

const address = (who: string): string => (who.includes('@') ? who : `${who.replace(/\D/g, '')}@s.whatsapp.net`);

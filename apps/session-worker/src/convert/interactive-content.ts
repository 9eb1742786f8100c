/** Interactive messages: texts with buttons, a list, a product, or cards of their own. */
import type { InteractiveButton, InteractiveContent, ListSection, MediaFile } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { jsonParameters, objectsOf, textOf } from './json-parameters.js';
import { documentContent, imageContent, videoContent } from './media-content.js';
import { present } from './present.js';
import { content, type Content, type Reading } from './reading.js';

type Interactive = proto.Message.IInteractiveMessage;
type FlowButton = proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton;
type Action = InteractiveContent['action'];
type Texts = Omit<InteractiveContent, keyof MediaFile>;

/** No client shows more cards. */
const MAX_CARDS = 32;

/** An interactive message. */
export function interactive(message: Interactive, reading: Reading): Content {
  const cards = (message.carouselMessage?.cards ?? []).slice(0, MAX_CARDS);
  const texts = textsOf(message, reading);
  if (cards.length === 0) {
    return content('interactive', { ...fileOf(message, reading), ...texts }, message.contextInfo);
  }
  const shown = cards.map((card) => textsOf(card, reading));
  const buttons = [texts, ...shown].flatMap(({ action }) => action.buttons ?? []);
  const value: InteractiveContent = {
    // A message has one file at most under its media id: the first.
    ...[message, ...cards].map((each) => fileOf(each, reading)).find((file) => file !== undefined),
    ...texts,
    action: { ...texts.action, ...(buttons.length > 0 && { buttons }) },
    cards: shown,
  };
  return content('interactive', value, message.contextInfo);
}

/** The part of an interactive message whose header holds its file: a carousel's first card that has one, or itself. */
export function withFile(message: Interactive): Interactive | undefined {
  return [message, ...(message.carouselMessage?.cards ?? [])].find(
    ({ header }) => header?.imageMessage ?? header?.videoMessage ?? header?.documentMessage,
  );
}

function fileOf({ header }: Interactive, { mediaId }: Reading): Partial<MediaFile> | undefined {
  if (header?.imageMessage) return imageContent(header.imageMessage, mediaId);
  if (header?.videoMessage) return videoContent(header.videoMessage, mediaId);
  return header?.documentMessage ? documentContent(header.documentMessage, mediaId) : undefined;
}

function textsOf(message: Interactive, reading: Reading): Texts {
  const { header, body, footer } = message;
  const title = [header?.title, header?.subtitle].filter(Boolean).join('\n');
  const action = actionOf(message, reading);
  return {
    ...present<Omit<Texts, 'action'>>({
      header: title === '' ? undefined : { text: title },
      body: body?.text ? { text: body.text } : undefined,
      footer: footer?.text ? { text: footer.text } : undefined,
      type: action.product ? 'product' : action.list ? 'list' : 'button',
    }),
    action,
  };
}

function actionOf(message: Interactive, { contactOf }: Reading): Action {
  const { header, nativeFlowMessage: flow, shopStorefrontMessage: shop, collectionMessage: collection } = message;
  const product = header?.productMessage;
  const seen = product
    ? { catalog_id: contactOf(product.businessOwnerJid), product_id: product.product?.productId }
    : collection
      ? { catalog_id: contactOf(collection.bizJid), product_id: collection.id }
      : shop && { product_id: shop.id };
  const lists = (flow?.buttons ?? []).flatMap((button) => listOf(button) ?? []);
  const [list] = lists;
  const buttons = (flow?.buttons ?? []).filter((button) => listOf(button) === undefined).map(buttonOf);
  return {
    ...(list && { list: { label: list.label, sections: lists.flatMap(({ sections }) => sections) } }),
    ...(buttons.length > 0 && { buttons }),
    ...(seen && { product: present<NonNullable<Action['product']>>(seen) }),
  };
}

/** The answers behind a button that opens a list. */
function listOf({ name, buttonParamsJson }: FlowButton): Action['list'] {
  const parameters = name === 'single_select' ? jsonParameters(buttonParamsJson) : undefined;
  if (!parameters) return undefined;
  const sections = objectsOf(parameters['sections']).map((section): ListSection => {
    const title = textOf(section, 'title');
    const rows = objectsOf(section['rows']).map((row) =>
      present<ListSection['rows'][number]>({
        id: textOf(row, 'id'),
        title: textOf(row, 'title'),
        description: textOf(row, 'description'),
      }),
    );
    return { ...(title !== undefined && { title }), rows };
  });
  return { label: textOf(parameters, 'title', 'display_text') ?? '', sections };
}

/** Kinds of buttons by the network's names; any other one is answered by a tap. */
const BUTTON_TYPES = new Map<string, InteractiveButton['type']>([
  ['cta_url', 'url'],
  ['open_webview', 'url'],
  ['cta_call', 'call'],
  ['cta_copy', 'copy'],
]);

function buttonOf({ name, buttonParamsJson }: FlowButton): InteractiveButton {
  const kind = name ?? '';
  const parameters = jsonParameters(buttonParamsJson);
  const title = textOf(parameters, 'display_text', 'title', 'flow_cta', 'button_text') ?? kind;
  return {
    type: BUTTON_TYPES.get(kind) ?? 'quick_reply',
    title,
    id: textOf(parameters, 'id', 'flow_id') ?? kind,
    ...present<Partial<InteractiveButton>>({
      url: textOf(parameters, 'url'),
      merchant_url: textOf(parameters, 'merchant_url'),
      phone_number: textOf(parameters, 'phone_number'),
      copy_code: textOf(parameters, 'copy_code'),
    }),
  };
}

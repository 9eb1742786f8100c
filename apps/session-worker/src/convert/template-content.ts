/** Messages of businesses made from templates, and the buttons and lists of before interactive messages. */
import type { ButtonsContent, HsmButton, HsmContent, ListContent, MessageHeader } from '@dormouse/gateway-contract';
import { proto } from '@whiskeysockets/baileys';
import { interactive } from './interactive-content.js';
import { jsonParameters, textOf } from './json-parameters.js';
import { documentContent, imageContent, videoContent } from './media-content.js';
import { locationContent } from './place-content.js';
import { present } from './present.js';
import { content, type Content, type Reading } from './reading.js';

const ButtonType = proto.Message.ButtonsMessage.Button.Type;

/** Templates hold templates; no client nests them deeper. */
const MAX_DEPTH = 4;

type Template = proto.Message.ITemplateMessage;
type Structured = proto.Message.IHighlyStructuredMessage;
type HydratedButton = proto.IHydratedTemplateButton;

/** A message made from a template, in whichever form. */
export function template(message: Template, reading: Reading): Content {
  const { interactiveMessageTemplate: nested } = message;
  if (nested) {
    const read = interactive(nested, reading);
    return { ...read, contextInfo: message.contextInfo ?? read.contextInfo };
  }
  return content('hsm', templateContent(message, reading), message.contextInfo);
}

/** A message that names a template and its parameters. */
export function structured(message: Structured, reading: Reading): Content {
  const { hydratedHsm: filled } = message;
  return filled
    ? template(filled, reading)
    : content('hsm', present<HsmContent>({ body: structuredText(message) }), undefined);
}

function templateContent(message: Template, reading: Reading): HsmContent {
  const filled = message.hydratedTemplate ?? message.hydratedFourRowTemplate;
  if (filled) {
    return present<HsmContent>({
      header: header({ ...filled, text: filled.hydratedTitleText }, reading),
      body: filled.hydratedContentText,
      footer: filled.hydratedFooterText,
      buttons: buttons((filled.hydratedButtons ?? []).map(hydratedButton)),
    });
  }
  const rows = message.fourRowTemplate;
  return present<HsmContent>({
    header: rows && header({ ...rows, text: structuredText(rows.highlyStructuredMessage) }, reading),
    body: structuredText(rows?.content),
    footer: structuredText(rows?.footer),
    buttons: buttons((rows?.buttons ?? []).map(templateButton)),
  });
}

const buttons = (list: HsmButton[]) => (list.length > 0 ? list : undefined);

function hydratedButton({ quickReplyButton: reply, urlButton: link, callButton: call }: HydratedButton): HsmButton {
  if (link) return present<HsmButton>({ type: 'url', text: link.displayText, url: link.url });
  if (call) return present<HsmButton>({ type: 'phone_number', text: call.displayText, phone_number: call.phoneNumber });
  return present<HsmButton>({ type: 'reply', text: reply?.displayText, id: reply?.id });
}

function templateButton({ quickReplyButton: reply, urlButton: link, callButton: call }: proto.ITemplateButton) {
  if (link)
    return present<HsmButton>({ type: 'url', text: structuredText(link.displayText), url: structuredText(link.url) });
  if (call) {
    const number = structuredText(call.phoneNumber);
    return present<HsmButton>({ type: 'phone_number', text: structuredText(call.displayText), phone_number: number });
  }
  return present<HsmButton>({ type: 'reply', text: structuredText(reply?.displayText), id: reply?.id });
}

/** The content of a structured text as far as it is known without its template: the parameters. */
function structuredText(text: Structured | null | undefined, depth = 0): string | undefined {
  if (!text || depth > MAX_DEPTH) return undefined;
  const filled = text.hydratedHsm?.hydratedTemplate ?? text.hydratedHsm?.hydratedFourRowTemplate;
  if (filled) return filled.hydratedContentText ?? undefined;
  const nested = structuredText(text.hydratedHsm?.fourRowTemplate?.content, depth + 1);
  if (nested !== undefined) return nested;
  const named = (text.localizableParams ?? []).flatMap((parameter) => parameter.default ?? []);
  const texts = named.length > 0 ? named : (text.params ?? []);
  return texts.length > 0 ? texts.join(' ') : (text.elementName ?? undefined);
}

interface Titled {
  text?: string | null | undefined;
  imageMessage?: proto.Message.IImageMessage | null;
  videoMessage?: proto.Message.IVideoMessage | null;
  documentMessage?: proto.Message.IDocumentMessage | null;
  locationMessage?: proto.Message.ILocationMessage | null;
}

function header(title: Titled, { mediaId }: Reading): MessageHeader | undefined {
  const { text, imageMessage: image, videoMessage: video, documentMessage: document, locationMessage: place } = title;
  if (image) return { type: 'image', image: imageContent(image, mediaId) };
  if (video) return { type: 'video', video: videoContent(video, mediaId) };
  if (document) return { type: 'document', document: documentContent(document, mediaId) };
  if (place) return { type: 'location', location: locationContent(place) };
  return text ? { type: 'text', text: { body: text } } : undefined;
}

/** A message with buttons. */
export function buttonsMessage(message: proto.Message.IButtonsMessage, reading: Reading): Content {
  const value: ButtonsContent = {
    ...present<Omit<ButtonsContent, 'buttons'>>({
      header: header(message, reading),
      text: message.contentText,
      footer: message.footerText,
    }),
    buttons: (message.buttons ?? []).map((button) => {
      const parameters = jsonParameters(button.nativeFlowInfo?.paramsJson);
      return present<ButtonsContent['buttons'][number]>({
        id: button.buttonId || textOf(parameters, 'id'),
        text: button.buttonText?.displayText || textOf(parameters, 'display_text', 'title'),
        type: nameOf(button.type),
      });
    }),
  };
  return content('buttons', value, message.contextInfo);
}

function nameOf(type: proto.Message.ButtonsMessage.Button.Type | null | undefined) {
  if (type === ButtonType.RESPONSE) return 'RESPONSE';
  return type === ButtonType.NATIVE_FLOW ? 'NATIVE_FLOW' : 'UNKNOWN';
}

/** A list to choose from, of answers or of products. */
export function list(message: proto.Message.IListMessage): Content {
  const rows = (message.sections ?? []).map((section) => ({
    ...present<{ title: string }>({ title: section.title }),
    rows: (section.rows ?? []).map(({ rowId: id, title, description }) =>
      present<ListContent['sections'][number]['rows'][number]>({ id, title, description }),
    ),
  }));
  const products = (message.productListInfo?.productSections ?? []).map((section) => ({
    ...present<{ title: string }>({ title: section.title }),
    rows: (section.products ?? []).map(({ productId: id }) => present<{ id: string }>({ id })),
  }));
  const value: ListContent = {
    ...present<Omit<ListContent, 'sections'>>({
      header: message.title,
      body: message.description,
      label: message.buttonText,
      footer: message.footerText,
    }),
    sections: [...rows, ...products],
  };
  return content('list', value, message.contextInfo);
}

import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';

/** What a business message offers besides its words: header, footer, and the words on its buttons or rows. */
export interface Offer {
  header?: string;
  footer?: string;
  choices: string[];
}

/** The offer in a message; `undefined` when it makes none. */
export function offerIn(inner: proto.IMessage): Offer | undefined {
  const { interactiveMessage, buttonsMessage, listMessage } = inner;
  const template = inner.templateMessage?.hydratedTemplate;
  if (template) {
    const labels = (template.hydratedButtons ?? []).map(
      ({ urlButton, callButton, quickReplyButton }) => (urlButton ?? callButton ?? quickReplyButton)?.displayText,
    );
    return offer(template.hydratedTitleText, template.hydratedFooterText, labels);
  }
  if (interactiveMessage) {
    const { header, footer, nativeFlowMessage, carouselMessage } = interactiveMessage;
    const cards = (carouselMessage?.cards ?? []).map(({ body }) => body?.text);
    const buttons = (nativeFlowMessage?.buttons ?? []).flatMap(({ buttonParamsJson }) => labelsIn(buttonParamsJson));
    return offer(header?.title, footer?.text, [...buttons, ...cards]);
  }
  if (buttonsMessage) {
    const labels = (buttonsMessage.buttons ?? []).map(({ buttonText }) => buttonText?.displayText);
    return offer(buttonsMessage.text, buttonsMessage.footerText, labels);
  }
  if (!listMessage) return undefined;
  const rows = (listMessage.sections ?? []).flatMap(({ rows: listed }) => (listed ?? []).map(({ title }) => title));
  return offer(listMessage.title, listMessage.footerText, rows);
}

type Word = string | null | undefined;

function offer(header: Word, footer: Word, choices: Word[]): Offer {
  return {
    ...(header && { header }),
    ...(footer && { footer }),
    choices: choices.flatMap((choice) => choice || []),
  };
}

/** The words on a button of a native flow: its own, or those of the rows of a list. */
function labelsIn(paramsJson: Word): Word[] {
  let params: unknown;
  try {
    params = JSON.parse(paramsJson ?? '');
  } catch {
    return [];
  }
  if (typeof params !== 'object' || params === null) return [];
  if ('display_text' in params && typeof params.display_text === 'string') return [params.display_text];
  if (!('sections' in params) || !Array.isArray(params.sections)) return [];
  return params.sections.flatMap((section: { rows?: { title?: string }[] }) =>
    (section.rows ?? []).map(({ title }) => title),
  );
}

/** Replies to lists, buttons and forms: what the sender chose or filled in. */
import type { ReplyContent } from '@dormouse/gateway-contract';
import type { proto } from '@whiskeysockets/baileys';
import { jsonParameters, textOf } from './json-parameters.js';
import { present } from './present.js';
import { content, type Content } from './reading.js';

type Context = proto.IContextInfo | null | undefined;

/** A row of a list. */
export function chosenRow(message: proto.Message.IListResponseMessage): Content {
  const { title, description, singleSelectReply, contextInfo } = message;
  return listReply({ id: singleSelectReply?.selectedRowId, title, description }, contextInfo);
}

/** A button of any kind. */
export function chosenButton(
  id: string | null | undefined,
  title: string | null | undefined,
  contextInfo: Context,
): Content {
  const value = present<NonNullable<ReplyContent['buttons_reply']>>({ id, title });
  return content('reply', { type: 'buttons_reply', buttons_reply: value }, contextInfo);
}

/** Answers of lists by the names clients give them; the names of buttons are many more. */
const LISTS = new Set(['menu_options', 'single_select', 'list_reply']);
/** Answers that hold a choice and nothing else; all others are forms. */
const CHOICES = new Set([...LISTS, 'quick_reply', 'cta_url', 'cta_call', 'cta_copy']);

/** The answer to an interactive message. Where its parameters cannot be read, the text shown to the person remains. */
export function interactiveAnswer(message: proto.Message.IInteractiveResponseMessage): Content {
  const { body, contextInfo, nativeFlowResponseMessage: answer } = message;
  const name = answer?.name ?? '';
  const values = jsonParameters(answer?.paramsJson);
  const id = textOf(values, 'id', 'selected_id', 'selectedId') ?? (name === '' ? undefined : name);
  const title = textOf(values, 'title', 'display_text') ?? body?.text;
  if (LISTS.has(name)) {
    const description = textOf(values, 'description');
    return listReply({ id, title, description }, contextInfo);
  }
  const reply = chosenButton(id, title, contextInfo);
  if (CHOICES.has(name) || name === '' || !reply.fields.reply) return reply;
  return { ...reply, fields: { reply: { ...reply.fields.reply, form: { name, ...(values && { values }) } } } };
}

function listReply(
  row: { id: string | null | undefined; title: string | null | undefined; description: string | null | undefined },
  contextInfo: Context,
): Content {
  const value = present<NonNullable<ReplyContent['list_reply']>>(row);
  return content('reply', { type: 'list_reply', list_reply: value }, contextInfo);
}

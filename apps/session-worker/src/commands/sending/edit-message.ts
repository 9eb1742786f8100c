import { EDIT_WINDOW_S, GatewayError, type EditResult, type Message } from '@dormouse/gateway-contract';
import type { StoredMessage } from '@dormouse/message-store/write';
import { editToNetwork, shownContext, type OutgoingContext } from '../../convert/message-to-network.js';
import { actOnMessage } from './act-on-message.js';
import type { CommandContext } from '../command-context.js';
import { findMessage } from './find-message.js';
import type { MessageTools } from './message-tools.js';

const TEXT_TYPES = ['text', 'link_preview'];
const CAPTIONED_TYPES = ['image', 'video', 'gif', 'document'];

/** A new text (or caption) for an own message. */
export interface Edit {
  /** Public id of the message. */
  id: string;
  body: string;
  context: Pick<OutgoingContext, 'mentions'>;
  /** The field of the request that named the message, for errors. */
  field: string;
}

/**
 * Edits a message. The change is stored, with its event, after the network accepted it: a refused edit changes nothing.
 * @returns the message as it is now
 * @throws {GatewayError} 404 for an unknown message; 403 for one of another author, deleted, older than 15 minutes, or
 * without text
 */
export async function editMessage(context: CommandContext, tools: MessageTools, edit: Edit): Promise<EditResult> {
  const stored = await findMessage(context, tools, edit.id, edit.field);
  assertEditable(stored, edit.field, tools.now());
  const people = { own: context.session().identity, numbers: new Map<string, string>() };
  const { type } = stored.message;
  const apply = (before: Message): Message => edited(before, edit);
  await actOnMessage(context, tools, {
    target: stored,
    content: editToNetwork(stored, edit.body, edit.context, people, tools.now()),
    edit: '1',
    action: { type: 'edit', edited_type: shownType(type), edited_content: editedContent(type, edit.body) },
    apply,
  });
  const message = (await tools.reader.message(context.channelId, edit.id)) ?? apply(stored.message);
  return { sent: true, success: true, message };
}

function assertEditable({ message }: StoredMessage, field: string, nowMs: number): void {
  const refuse = (reason: string): never => {
    throw new GatewayError(403, { details: `${field}: ${reason}` });
  };
  if (!message.from_me) refuse('only own messages can be edited');
  if (message.status === 'deleted') refuse('the message is deleted');
  if (nowMs / 1_000 - message.timestamp > EDIT_WINDOW_S) refuse('a message can be edited only within 15 minutes');
  if (![...TEXT_TYPES, ...CAPTIONED_TYPES].includes(message.type)) refuse('a message of this type has no text to edit');
}

/** An edited text is a plain one: the preview of the old link goes. */
function shownType(type: string): string {
  return TEXT_TYPES.includes(type) ? 'text' : type;
}

function editedContent(type: string, body: string): Record<string, unknown> {
  return TEXT_TYPES.includes(type) ? { body } : { caption: body };
}

function edited(before: Message, { body, context }: Edit): Message {
  const type = shownType(before.type);
  const old = before[before.type];
  const kept = type === 'text' || typeof old !== 'object' || old === null ? {} : old;
  const after: Message = { ...before, type };
  delete after[before.type];
  const shown = shownContext(context);
  return Object.assign(after, {
    [type]: { ...kept, ...editedContent(before.type, body) },
    ...(shown && { context: { ...before.context, ...shown } }),
  });
}

import { z } from 'zod';
import { filledText, flag, messageIdField, writtenTextUpTo } from './fields.js';
import { recipientSchema } from './ids.js';
import type { SentMessage } from './messages.js';
import { expectObjectOrNothing, hasField, parseInput } from './parse.js';
import { mentions } from './send-options.js';

/** Seconds after sending in which an own message can be edited. */
export const EDIT_WINDOW_S = 900;

/** Body of POST /messages/{MessageID} when it has `to`. */
export const forwardMessageBody = z.object({
  to: recipientSchema.describe('Who receives it.'),
  force: flag.optional().describe('Forward even what is marked as forwarded many times.'),
});
export type ForwardMessageBody = z.output<typeof forwardMessageBody>;

/** Body of PUT /messages/{MessageID}: the new text, or the new caption of media. */
export const editMessageBody = z.object({
  body: filledText.describe('The new text, or the new caption of a file.'),
  mentions: mentions.optional(),
  no_link_preview: flag.optional(),
});
export type EditMessageBody = z.output<typeof editMessageBody>;

/** Body of PUT /messages/{MessageID}/reaction: blank text removes the reaction. */
export const reactionBody = z.object({
  emoji: writtenTextUpTo(64)
    .default('')
    .transform((emoji) => emoji.trim()),
});
export type ReactionBody = z.output<typeof reactionBody>;

/** Answer of PUT /messages/{MessageID} with a body. */
export interface EditResult extends SentMessage {
  success: true;
}

/** What POST /messages/{MessageID} means: forward when the body has `to`, else mark as read. */
export type PostMessageAction = { action: 'forward'; body: ForwardMessageBody } | { action: 'read' };

/**
 * @param body undefined when the request has none
 * @throws {GatewayError} 400
 */
export function postMessageAction(body: unknown): PostMessageAction {
  expectObjectOrNothing(body);
  return hasField(body, 'to') ? { action: 'forward', body: parseInput(forwardMessageBody, body) } : { action: 'read' };
}

/** What PUT /messages/{MessageID} means: edit when there is a body, even an empty object; without any, mark as read. */
export type PutMessageAction = { action: 'edit'; body: EditMessageBody } | { action: 'read' };

/**
 * @param body undefined when the request has none
 * @throws {GatewayError} 400
 */
export function putMessageAction(body: unknown): PutMessageAction {
  return body === undefined ? { action: 'read' } : { action: 'edit', body: parseInput(editMessageBody, body) };
}

/** Inputs of commands about one message, as sent to the worker. */
export const messageInput = z.object({ messageId: messageIdField });
export const forwardMessageInput = forwardMessageBody.extend(messageInput.shape);
export const editMessageInput = editMessageBody.extend(messageInput.shape);
export const reactionInput = reactionBody.extend(messageInput.shape);
export type MessageInput = z.output<typeof messageInput>;
export type ForwardMessageInput = z.output<typeof forwardMessageInput>;
export type EditMessageInput = z.output<typeof editMessageInput>;
export type ReactionInput = z.output<typeof reactionInput>;

import { z } from 'zod';
import { flag, text } from './fields.js';
import { expectObjectOrNothing, hasField, parseInput } from './parse.js';

/** How long messages of a chat stay, in seconds; 0 = for ever. */
export const CHAT_EPHEMERAL_S = { none: 0, day: 86_400, week: 604_800, quarter: 7_776_000 } as const;
export type ChatEphemeral = keyof typeof CHAT_EPHEMERAL_S;

const chatFields = {
  archive: flag.optional(),
  pin: flag.optional(),
  mute: flag.optional().describe('true = for ever, false = not at all; `mute_until` wins when both are given.'),
  mute_until: z
    .int('must be epoch milliseconds')
    .min(0, 'must be 0 or more')
    .optional()
    .describe('Epoch milliseconds; 0 = not muted.'),
  mark_unread: flag.optional(),
  ephemeral: z.enum(['none', 'day', 'week', 'quarter']).optional(),
};
const names = Object.keys(chatFields);
const hasAny = (body: object) => names.some((name) => hasField(body, name));
const NOTHING = `one of ${names.join(', ')} is required`;

/** Body of PATCH /chats/{ChatID}: any of these, at least one. */
export const patchChatBody = z.object(chatFields).refine(hasAny, NOTHING);
export type PatchChatBody = z.output<typeof patchChatBody>;

/** Body of POST /chats/{ChatID} when it has `archive`. */
export const archiveChatBody = z.object({ archive: flag });
export type ArchiveChatBody = z.output<typeof archiveChatBody>;

/** What POST /chats/{ChatID} means: archive or restore when the body has `archive`, else mark as read. */
export type PostChatAction = { action: 'archive'; body: ArchiveChatBody } | { action: 'read' };

/**
 * @param body undefined when the request has none
 * @throws {GatewayError} 400
 */
export function postChatAction(body: unknown): PostChatAction {
  expectObjectOrNothing(body);
  return hasField(body, 'archive')
    ? { action: 'archive', body: parseInput(archiveChatBody, body) }
    : { action: 'read' };
}

/** Inputs of commands about one chat, as sent to the worker. */
const chatId = { chatId: text };
export const chatInput = z.object(chatId);
export const patchChatInput = z.object({ ...chatFields, ...chatId }).refine(hasAny, NOTHING);
export type ChatInput = z.output<typeof chatInput>;
export type PatchChatInput = z.output<typeof patchChatInput>;

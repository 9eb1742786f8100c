import { channelHandlers } from './channel.handlers.js';
import type { Handlers } from './command-context.js';
import { groupInviteHandlers } from './group-invites.handlers.js';
import { groupHandlers, type GroupTools } from './groups.handlers.js';
import { messageActHandlers, type MessageActTools } from './message-acts.handlers.js';
import { messageHandlers, type PlainMessageTools } from './messages.handlers.js';

/** What all handlers together need. */
export type HandlerTools = PlainMessageTools & MessageActTools & GroupTools;

/** Every command's handler. One that is missing does not compile. */
export function makeHandlers(tools: HandlerTools): Handlers {
  return { ...channelHandlers(tools), ...messageHandlers(tools), ...messageActHandlers(tools), ...groupHandlers(tools), ...groupInviteHandlers(tools) };
}

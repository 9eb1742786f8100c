import { channelHandlers } from './channel.handlers.js';
import type { Handlers } from './command-context.js';
import { messageActHandlers, type MessageActTools } from './message-acts.handlers.js';
import { messageHandlers, type PlainMessageTools } from './messages.handlers.js';

/** What all handlers together need. */
export type HandlerTools = PlainMessageTools & MessageActTools;

/** Every command's handler. One that is missing does not compile. */
export function makeHandlers(tools: HandlerTools): Handlers {
  return { ...channelHandlers(tools), ...messageHandlers(tools), ...messageActHandlers(tools) };
}

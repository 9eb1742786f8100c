import { channelHandlers } from './channel.handlers.js';
import type { Handlers } from './command-context.js';
import { messageHandlers } from './messages.handlers.js';
import type { MessageTools } from './send-message.js';

/** What all handlers together need. */
export type HandlerTools = MessageTools;

/** Every command's handler. One that is missing does not compile. */
export function makeHandlers(tools: HandlerTools): Handlers {
  return { ...channelHandlers(tools), ...messageHandlers(tools) };
}

import { channelHandlers, type ChannelTools } from './channel.handlers.js';
import { chatHandlers, type ChatTools } from './chats.handlers.js';
import type { Handlers } from './command-context.js';
import { contactHandlers, type ContactTools } from './contacts.handlers.js';
import { groupInviteHandlers } from './group-invites.handlers.js';
import { groupHandlers, type GroupTools } from './groups.handlers.js';
import { mediaHandlers, type MediaTools } from './media.handlers.js';
import { messageActHandlers, type MessageActTools } from './message-acts.handlers.js';
import { messageHandlers, type PlainMessageTools } from './messages.handlers.js';
import { presenceHandlers, type PresenceTools } from './presences.handlers.js';
import { profileHandlers, type ProfileTools } from './profile.handlers.js';

/** What all handlers together need. */
export type HandlerTools = ChannelTools &
  ChatTools &
  ContactTools &
  PresenceTools &
  ProfileTools &
  PlainMessageTools &
  MediaTools &
  MessageActTools &
  GroupTools;

/** Every command's handler. One that is missing does not compile. */
export function makeHandlers(tools: HandlerTools): Handlers {
  return {
    ...chatHandlers(tools),
    ...contactHandlers(tools),
    ...presenceHandlers(tools),
    ...profileHandlers(tools),
    ...channelHandlers(tools),
    ...messageHandlers(tools),
    ...mediaHandlers(tools),
    ...messageActHandlers(tools),
    ...groupHandlers(tools),
    ...groupInviteHandlers(tools),
  };
}

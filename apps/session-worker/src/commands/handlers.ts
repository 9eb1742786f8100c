import { channelHandlers, type ChannelTools } from './handlers/channel.handlers.js';
import { chatHandlers, type ChatTools } from './handlers/chats.handlers.js';
import type { Handlers } from './command-context.js';
import { contactHandlers, type ContactTools } from './handlers/contacts.handlers.js';
import { groupInviteHandlers } from './handlers/group-invites.handlers.js';
import { groupHandlers, type GroupTools } from './handlers/groups.handlers.js';
import { mediaHandlers } from './handlers/media.handlers.js';
import type { MediaTools } from './sending/message-tools.js';
import { messageActionHandlers, type MessageActionTools } from './handlers/message-actions.handlers.js';
import { messageHandlers, type PlainMessageTools } from './handlers/messages.handlers.js';
import { presenceHandlers, type PresenceTools } from './handlers/presences.handlers.js';
import { profileHandlers, type ProfileTools } from './handlers/profile.handlers.js';

/** What all handlers together need. */
export type HandlerTools = ChannelTools &
  ChatTools &
  ContactTools &
  PresenceTools &
  ProfileTools &
  PlainMessageTools &
  MediaTools &
  MessageActionTools &
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
    ...messageActionHandlers(tools),
    ...groupHandlers(tools),
    ...groupInviteHandlers(tools),
  };
}

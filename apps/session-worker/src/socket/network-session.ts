/**
 * The network as one open session of a channel sees it: all that the worker requests of it, and what it brings, in the
 * words of this product. The only place where the network library's socket is used outside of opening and ending it.
 *
 * Every request rejects when the network refuses it (`refusedRequest` gives the code), when the connection ends before the
 * answer comes (`isConnectionLost`) and when none comes within the library's time (60 s).
 */
import type { WASocket } from '@whiskeysockets/baileys';
import { eventsOf, type NetworkEventSource } from './network-events.js';
import { chatRequests, type ChatRequests } from './requests/chat-requests.js';
import { fileRequests, type FileRequests } from './requests/file-requests.js';
import { groupRequests, type GroupRequests } from './requests/group-requests.js';
import { messageRequests, type MessageRequests } from './requests/message-requests.js';
import { personRequests, type PersonRequests } from './requests/person-requests.js';
import { profileRequests, type ProfileRequests } from './requests/profile-requests.js';

export interface NetworkSession {
  readonly messages: MessageRequests;
  /** What is done to chats goes through the state that the phone shares with its devices. */
  readonly chats: ChatRequests;
  readonly groups: GroupRequests;
  /** Who people are. */
  readonly people: PersonRequests;
  /** How the number shows itself. */
  readonly profile: ProfileRequests;
  readonly files: FileRequests;
  readonly events: NetworkEventSource;
  /** Has the device the first state that the phone gives a new one? Before that, chats and contacts are no news. */
  readonly isSetUp: boolean;
  /** Ends the connection; what is not acknowledged comes again on the next one. */
  end(reason: Error): void;
}

/** The session that the library's socket is. */
export function networkSessionOf(socket: WASocket): NetworkSession {
  return {
    messages: messageRequests(socket),
    chats: chatRequests(socket),
    groups: groupRequests(socket),
    people: personRequests(socket),
    profile: profileRequests(socket),
    files: fileRequests(socket),
    events: eventsOf(socket),
    get isSetUp() {
      return (socket.authState.creds.accountSyncCounter ?? 0) > 0;
    },
    end: (reason) => void socket.end(reason),
  };
}

import type { Message } from '@dormouse/gateway-contract';

/** The network's own name of a message. */
export interface NetworkKey {
  id: string;
  /** JID of the chat as on the wire. */
  remote: string;
  /** JID of the author as on the wire; in groups only. */
  participant?: string;
}

/** A message to be stored. */
export interface MessageRecord {
  /** As customers see it, without `chat_name`: the store knows the names of chats. */
  message: Message;
  key: NetworkKey;
  /**
   * Other forms in which the network writes the JIDs of the key (the LID of a number, the number of a LID). A message
   * that comes again under another form is recognised by them.
   */
  keyAliases?: readonly string[];
  /** The network's Message, protobuf-encoded. */
  proto?: Uint8Array;
  /** It is stored and listed, but no `messages` event notifies of it. */
  quiet?: true;
  /** It waited at the network while the session was away: its event is a `put` instead of a `post`. */
  waited?: true;
}

/** A message from the store, with what the network needs to refer to it. */
export interface StoredMessage {
  message: Message;
  key: NetworkKey;
  proto?: Buffer;
}

/** What became known of a chat; absent fields stay as they are. */
export interface ChatRecord {
  /** Chat id as customers see it. */
  id: string;
  name?: string;
  /** Epoch seconds of the last activity; never moves backwards. */
  timestamp?: number;
  unread?: number;
  /** It was read up to this moment (epoch seconds): unread is what came later. */
  readUntilS?: number;
  /** Marked as unread by hand: at least one message counts as unread. */
  markedUnread?: boolean;
  pinned?: boolean;
  archived?: boolean;
  /** Epoch milliseconds; 0 = not muted. */
  muteUntilMs?: number;
  /** How long messages of a chat of two stay; what was set later stays. */
  timer?: ChatTimer;
}

/** How long messages of a chat stay. */
export interface ChatTimer {
  /** 0: for ever. */
  seconds: number;
  /** When it was set, or last seen in force, in epoch seconds. */
  setAtS: number;
}

/** What became known of a contact; absent fields stay as they are. */
export interface ContactRecord {
  /** Digits, or `<digits>@lid` while the number is unknown. */
  id: string;
  /** Name in the phone's address book. */
  name?: string;
  /** The name the contact shows to others. */
  pushName?: string;
  /** User part of the contact's LID. */
  lid?: string;
  business?: boolean;
  about?: string;
  /** Addresses of the small and of the whole picture; '' once there is none. */
  picture?: string;
  pictureFull?: string;
}

/** One person: the user part of a LID and the digits of the number it belongs to. */
export interface PersonPair {
  lid: string;
  phone: string;
}

import type { Message } from './messages.js';
import type { Page } from './queries.js';

/** What is known of a chat beyond its name: the same for chats and groups. */
export interface ChatFacts {
  pin?: boolean;
  mute?: boolean;
  /** Epoch milliseconds; 0 = not muted. */
  mute_until?: number;
  archive?: boolean;
  unread?: number;
  /** One of the unread messages mentions the channel's number. */
  unread_mention?: boolean;
  /** The channel cannot send here. */
  read_only?: boolean;
  not_spam?: boolean;
  /** URL of the small and of the whole picture. */
  chat_pic?: string;
  chat_pic_full?: string;
  last_message?: Message;
}

/** A chat as customers see it. */
export interface Chat extends ChatFacts {
  id: string;
  name?: string;
  type: 'group' | 'contact' | 'broadcast' | 'newsletter' | 'unknown';
  /** Epoch seconds of the last activity. */
  timestamp: number;
}

export interface ChatsList extends Page {
  chats: Chat[];
}

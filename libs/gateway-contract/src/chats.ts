import type { Message, Page } from './messages.js';

/** A chat as customers see it. */
export interface Chat {
  id: string;
  name?: string;
  type: 'group' | 'contact' | 'broadcast' | 'newsletter' | 'unknown';
  /** Epoch seconds of the last activity. */
  timestamp: number;
  pin?: boolean;
  mute?: boolean;
  /** Epoch milliseconds; 0 = not muted. */
  mute_until?: number;
  archive?: boolean;
  unread?: number;
  not_spam?: boolean;
  last_message?: Message;
}

export interface ChatsList extends Page {
  chats: Chat[];
}

/** A contact as customers see it: `id` is digits, or `<digits>@lid` while the number is unknown. */
export interface ContactShape {
  id: string;
  name: string;
  pushname?: string;
  is_business?: boolean;
  saved?: boolean;
}

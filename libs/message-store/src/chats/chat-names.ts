/** What a chat is called, and which kind of chat an id is of. */
import type { Chat } from '@dormouse/gateway-contract';
import { contactIdSql } from '../messages/message-rows.js';

/** The kind of a chat, by the server part of its id. */
export function chatType(chatId: string): Chat['type'] {
  const types: Record<string, Chat['type']> = {
    's.whatsapp.net': 'contact',
    lid: 'contact',
    'g.us': 'group',
    broadcast: 'broadcast',
    newsletter: 'newsletter',
  };
  return types[chatId.slice(chatId.lastIndexOf('@') + 1)] ?? 'unknown';
}

/**
 * The name under which the owner has saved a chat, of the table or alias given: that of the group it is, its own, or
 * the contact's in the address book. Events name chats by it alone: receivers take a name for the mark of a chat that
 * the owner knows, which what a stranger calls himself is not.
 */
export function savedChatNameSql(chats: string): string {
  return `coalesce((SELECT g.facts ->> 'name' FROM groups g WHERE g.channel_id = ${chats}.channel_id
      AND g.id = ${chats}.id), ${chats}.name, ${contactNameSql(chats, 'name')})`;
}

/** The name of a chat as lists show it: without a saved one, what the other calls himself. */
export function chatNameSql(chats: string): string {
  return `coalesce(${savedChatNameSql(chats)}, ${contactNameSql(chats, 'push_name')})`;
}

/** The name of the contact that a chat is with. */
export function contactNameSql(chats: string, column: 'name' | 'push_name'): string {
  return `(SELECT k.${column} FROM contacts k
    WHERE k.channel_id = ${chats}.channel_id AND k.id = ${contactIdSql(`${chats}.id`)})`;
}

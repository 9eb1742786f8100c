import type { EventResponse } from './message-content.js';

/** Quote, mentions and forwarding marks of a message. */
export interface MessageContext {
  forwarded?: boolean;
  forwarding_score?: number;
  /** Contact ids. */
  mentions?: string[];
  quoted_id?: string;
  quoted_type?: string;
  /** What stands under the quoted message's type. */
  quoted_content?: Record<string, unknown>;
  quoted_author?: string;
  /** Seconds until the message disappears. */
  ephemeral?: number;
  ad?: AdContext;
  conversion?: { source?: string; data?: string; delay?: number };
}

/** The advertisement a conversation was started from. */
export interface AdContext {
  title?: string;
  body?: string;
  advertiser_name?: string;
  media_type?: 'image' | 'video';
  media_url?: string;
  preview?: string;
  preview_url?: string;
  source?: { id?: string; type?: string; url?: string };
  ctwa?: string;
  ref?: string;
  auto_reply?: boolean;
  attrib?: boolean;
}

/** A reaction as it stands on the message it belongs to. */
export interface MessageReaction {
  /** Id of the action message that brought it. */
  id?: string;
  emoji: string;
  /** Contact id of who reacted; stored, and not shown to customers. */
  author?: string;
  group_key?: string;
  /** Epoch seconds. */
  t?: number;
  unread?: boolean;
  count?: number;
}

/** Kinds of action messages: what was done to an earlier message, or to the chat. */
export const MESSAGE_ACTIONS = [
  'edited',
  'edit',
  'delete',
  'reaction',
  'ephemeral',
  'vote',
  'comment',
  'event_response',
  'pin',
  'unpin',
] as const;
export type MessageActionType = (typeof MESSAGE_ACTIONS)[number];

/** Content of a message of type `action`. */
export interface ActionContent {
  /** Id of the message the action is about. */
  target?: string;
  type: MessageActionType;
  /** '' removes the reaction. */
  emoji?: string;
  /** Seconds until messages disappear. */
  ephemeral?: number;
  edited_type?: string;
  /** What stands under the edited message's type now. */
  edited_content?: Record<string, unknown>;
  /** Ids of poll options; empty when the vote was withdrawn. */
  votes?: string[];
  comment?: string;
  event_response?: EventResponse;
}

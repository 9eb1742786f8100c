import type { MediaFile } from './media.js';

/** Every value `type` of a message can have; clients with closed lists know these. */
export const MESSAGE_TYPES = [
  'text',
  'image',
  'video',
  'gif',
  'audio',
  'voice',
  'short',
  'document',
  'link_preview',
  'location',
  'live_location',
  'contact',
  'contact_list',
  'sticker',
  'system',
  'call',
  'unknown',
  'action',
  'group_invite',
  'newsletter_invite',
  'admin_invite',
  'product',
  'catalog',
  'interactive',
  'reply',
  'poll',
  'hsm',
  'order',
  'story',
  'event',
  'buttons',
  'list',
] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

export interface TextContent {
  body: string;
  view_once?: boolean;
}

export interface ImageContent extends MediaFile {
  caption?: string;
  /** A small JPEG as data: URI. */
  preview?: string;
  /** Pixels. */
  width?: number;
  height?: number;
  view_once?: boolean;
}

/** Also the content of `gif` and `short`. */
export interface VideoContent extends ImageContent {
  /** Duration in seconds. */
  seconds?: number;
  /** Plays by itself, without sound. */
  autoplay?: boolean;
}

/** Content of `audio` and `voice`. */
export interface AudioContent extends MediaFile {
  /** Duration in seconds. */
  seconds?: number;
  /** 64 loudness values from 0 to 100, base64. */
  waveform?: string;
  view_once?: boolean;
}

export interface DocumentContent extends MediaFile {
  caption?: string;
  /** Repeats `file_name`: clients read either. */
  filename?: string;
  page_count?: number;
  preview?: string;
  view_once?: boolean;
}

export interface StickerContent extends MediaFile {
  animated?: boolean;
  width?: number;
  height?: number;
  preview?: string;
  view_once?: boolean;
}

/** Content of `link_preview`, `group_invite`, `newsletter_invite` and `catalog`. */
export interface LinkPreviewContent {
  body: string;
  url?: string;
  title?: string;
  description?: string;
  canonical?: string;
  preview?: string;
  /** Media id of the picture. */
  id?: string;
  link?: string;
  sha256?: string;
  invite_code?: string;
  newsletter_id?: string;
  catalog_id?: string;
  view_once?: boolean;
}

export interface AdminInviteContent {
  body: string;
  newsletter_id: string;
  newsletter_name: string;
  /** Epoch seconds. */
  expiration: number;
  preview?: string;
}

export interface LocationContent {
  latitude: number;
  longitude: number;
  address?: string;
  name?: string;
  url?: string;
  preview?: string;
  /** Metres. */
  accuracy?: number;
  /** Metres per second. */
  speed?: number;
  /** Clockwise from north. */
  degrees?: number;
  comment?: string;
  view_once?: boolean;
}

export interface LiveLocationContent {
  latitude: number;
  longitude: number;
  accuracy?: number;
  speed?: number;
  degrees?: number;
  caption?: string;
  sequence_number?: number;
  /** Seconds since the sharing began. */
  time_offset?: number;
  preview?: string;
}

export interface ContactContent {
  name?: string;
  vcard?: string;
}

export interface ContactListContent {
  list: ContactContent[];
}

/** One option of a poll and who chose it. */
export interface PollResult {
  /** Opaque; votes name options by it. */
  id: string;
  name: string;
  count: number;
  /** Contact ids. */
  voters: string[];
}

export interface PollContent {
  title: string;
  options: string[];
  /** How many options one voter may choose; 0 = any number. */
  vote_limit?: number;
  /** Votes counted over all options. */
  total?: number;
  results?: PollResult[];
}

export interface SystemContent {
  body: string;
}

/** What is known of a message whose content a linked device does not receive; `subtype` names its kind. */
export interface UnknownContent {
  view_once?: boolean;
}

/** A choice that a person made in a list or among buttons. */
export interface ReplyContent {
  type: 'list_reply' | 'buttons_reply';
  list_reply?: { id?: string; title?: string; description?: string };
  buttons_reply?: { id?: string; title?: string };
  /** What was filled in, where the button opened a form: as the business's app named it. */
  form?: { name: string; values?: Record<string, unknown> };
}

export interface OrderContent {
  order_id?: string;
  seller?: string;
  title?: string;
  text?: string;
  token?: string;
  item_count?: number;
  currency?: string;
  total_price?: number;
  status?: 'new' | 'accepted' | 'canceled';
  preview?: string;
}

export interface ProductContent {
  catalog_id?: string;
  product_id?: string;
}

export interface ListSection {
  title?: string;
  rows: { id?: string; title?: string; description?: string }[];
}

export interface ListContent {
  header?: string;
  body?: string;
  label?: string;
  footer?: string;
  sections: ListSection[];
}

/** What stands above the words of a template, or of a message with buttons. */
export interface MessageHeader {
  type?: 'text' | 'image' | 'video' | 'document' | 'location';
  text?: { body: string };
  image?: ImageContent;
  video?: VideoContent;
  document?: DocumentContent;
  location?: LocationContent;
}

export interface ButtonsContent {
  header?: MessageHeader;
  text?: string;
  footer?: string;
  buttons: { id?: string; text?: string; type?: 'UNKNOWN' | 'RESPONSE' | 'NATIVE_FLOW' }[];
}

/** A button of an interactive message. */
export interface InteractiveButton {
  type: 'quick_reply' | 'call' | 'copy' | 'url';
  title: string;
  id: string;
  copy_code?: string;
  phone_number?: string;
  url?: string;
  merchant_url?: string;
}

/** The file above the words, if there is one, stands beside them. */
export interface InteractiveContent extends Partial<MediaFile> {
  header?: { text: string };
  body?: { text: string };
  footer?: { text: string };
  action: {
    list?: { label: string; sections: ListSection[] };
    buttons?: InteractiveButton[];
    product?: ProductContent;
  };
  type?: 'list' | 'button' | 'product';
  /** Of a carousel: its cards, each as an interactive message. */
  cards?: InteractiveContent[];
}

/** A button of a template. */
export interface HsmButton {
  id?: string;
  type?: 'simple' | 'reply' | 'url' | 'phone_number' | 'copy_code';
  text?: string;
  url?: string;
  phone_number?: string;
  copy_code?: string;
}

/** A message made from a template of a business. */
export interface HsmContent {
  header?: MessageHeader;
  body?: string;
  footer?: string;
  buttons?: HsmButton[];
}

/** A planned event in a group and who comes. */
export interface PlannedEventContent {
  name?: string;
  description?: string;
  is_canceled?: boolean;
  join_link?: string;
  /** Epoch seconds. */
  start?: number;
  responses?: EventResponse[];
}

export interface EventResponse {
  participant?: string;
  response?: 'UNKNOWN' | 'GOING' | 'NOT_GOING';
  /** Epoch seconds. */
  timestamp?: number;
}

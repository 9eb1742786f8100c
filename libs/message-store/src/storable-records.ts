/**
 * Records as the tables can hold them, whatever a phone or the network put into them: characters that PostgreSQL refuses,
 * numbers that no column holds, ids that no index takes. Events show what is stored. Ids are changed alike wherever
 * they name something, so that a receipt of a strange message still finds it.
 */
import { createHash } from 'node:crypto';
import { storable } from '@dormouse/database';
import type { ChatRecord, ContactRecord, MessageRecord, PersonPair } from './records.js';
import type { StatusReport } from './statuses/status-ladder.js';

/** An index takes 2,704 bytes for all columns of a row; these are three bytes each at most. */
const LONGEST_ID = 250;
const LONGEST_KEPT = 180;
const MOST_UNREAD = 1_000_000_000;
const LARGEST_INT = 2_147_483_647;

/** An id of the network, or of a customer: as it is unless it cannot be stored or indexed. */
export function storableId(id: string): string {
  const clean = storable(id);
  if (clean.length <= LONGEST_ID) return clean;
  const hash = createHash('sha256').update(clean).digest('hex');
  return `${storable(clean.slice(0, LONGEST_KEPT))}~${hash}`;
}

/** A moment (seconds or milliseconds since 1970): whole, not negative, and exact in JSON. */
export function storableMoment(moment: number): number {
  return inRange(moment, Number.MAX_SAFE_INTEGER);
}

export function storableMessage(record: MessageRecord): MessageRecord {
  const { key, keyAliases = [] } = record;
  const message = storable(record.message);
  const { device_id: deviceId, from } = message;
  return {
    ...record,
    message: {
      ...message,
      id: storableId(message.id),
      chat_id: storableId(message.chat_id),
      ...(from !== undefined && { from: storableId(from) }),
      timestamp: storableMoment(message.timestamp),
      ...(deviceId !== undefined && { device_id: inRange(deviceId, LARGEST_INT) }),
    },
    key: {
      id: storableId(key.id),
      remote: storable(key.remote),
      ...(key.participant !== undefined && { participant: storable(key.participant) }),
    },
    keyAliases: storable(keyAliases),
  };
}

export function storableReport(report: StatusReport): StatusReport {
  const { keyId, viewerId, timestamp } = report;
  return {
    ...storable(report),
    keyId: storableId(keyId),
    ...(viewerId !== undefined && { viewerId: storableId(viewerId) }),
    timestamp: storableMoment(timestamp),
  };
}

export function storableChat(chat: ChatRecord): ChatRecord {
  const { id, timestamp, unread, readUntilS, muteUntilMs } = chat;
  return {
    ...storable(chat),
    id: storableId(id),
    ...(timestamp !== undefined && { timestamp: storableMoment(timestamp) }),
    ...(unread !== undefined && { unread: inRange(unread, MOST_UNREAD) }),
    ...(readUntilS !== undefined && { readUntilS: storableMoment(readUntilS) }),
    ...(muteUntilMs !== undefined && { muteUntilMs: storableMoment(muteUntilMs) }),
  };
}

export function storableContact(contact: ContactRecord): ContactRecord {
  const { lid } = contact;
  return { ...storableNamed(contact), ...(lid !== undefined && { lid: storableId(lid) }) };
}

export function storablePair({ lid, phone }: PersonPair): PersonPair {
  return { lid: storableId(lid), phone: storableId(phone) };
}

/** Records that have an id and are text otherwise. */
export function storableNamed<Item extends { readonly id: string }>(item: Item): Item {
  return { ...storable(item), id: storableId(item.id) };
}

function inRange(value: number, most: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(Math.trunc(value), 0), most);
}

/**
 * Which way the status of an own message may go; `status-writes.ts` has the one statement that applies it.
 *
 * Per viewer: sent, delivered, read, played, never backwards. Of the message: pending to failed, or up to the furthest
 * that any viewer reached, never backwards; deleted is the end. A failure that was concluded from silence (see
 * {@link isProvisionalSql}) ends with the first proof that it was none.
 */
import type { MessageStatus } from '@dormouse/gateway-contract';

/** The steps the network reports. */
export type ReceiptStatus = Extract<MessageStatus, 'sent' | 'delivered' | 'read' | 'played' | 'failed'>;

/** The network reported how far an own message got. */
export interface StatusReport {
  /** The network's id of the message. */
  keyId: string;
  status: ReceiptStatus;
  /**
   * Contact id of the group's member who received or read it, or of whom could not read it (failed), in a chat of two as
   * well. Otherwise absent in a chat of two, where there is only one, and for a step of the message itself.
   */
  viewerId?: string;
  /** Epoch seconds. */
  timestamp: number;
  /** Why it failed. */
  errors?: { code: number; message: string; details?: string }[];
  /** The trace that it is a part of, as W3C `traceparent`. */
  traceparent?: string;
}

/** The network did not confirm the message, and nothing proves that it accepted it. */
export const UNCONFIRMED = { code: 408, message: 'the network never confirmed the message' };
/** Every copy the recipient requested was sent, and none is known to have been readable. */
export const UNREADABLE = { code: 424, message: 'the recipient could not decrypt the message' };

/** The order that the status of a message goes through, lowest first; the only list of it. Failed and deleted stand beside. */
const STATUS_LADDER = ['pending', 'sent', 'delivered', 'read', 'played'] as const satisfies readonly MessageStatus[];

const LADDER = `ARRAY['${STATUS_LADDER.join("', '")}']`;

/** The rank of a status on the ladder, from 1; null for one that stands beside it. @param status an expression */
export function rankSql(status: string): string {
  return `array_position(${LADDER}, ${status})`;
}

/** The status of a rank. */
export function statusSql(rank: string): string {
  return `(${LADDER})[${rank}]`;
}

/** The rank of a status that is known here. */
export function rankOf(status: (typeof STATUS_LADDER)[number]): number {
  return STATUS_LADDER.indexOf(status) + 1;
}

/** In which order the steps of a message are listed. */
export function listOrderSql(status: string): string {
  const [pending, sent, ...further] = STATUS_LADDER;
  return `array_position(ARRAY['${[pending, sent, 'failed', ...further, 'deleted'].join("', '")}'], ${status})`;
}

/** Were the errors of a failure concluded from silence? @param errors an expression of jsonb */
export function isProvisionalSql(errors: string): string {
  const codes = [UNCONFIRMED, UNREADABLE].map(({ code }) => `${errors} @> '[{"code": ${code}}]'`);
  return `(${codes.join(' OR ')})`;
}

const STATUSES: readonly string[] = [...STATUS_LADDER, 'failed', 'deleted'] satisfies MessageStatus[];

export function isMessageStatus(text: string | null): text is MessageStatus {
  return text !== null && STATUSES.includes(text);
}

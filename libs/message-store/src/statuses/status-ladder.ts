/**
 * Which way the status of an own message may go. Per viewer: sent, delivered, read, played, never backwards. Of the
 * message: pending to failed, or up to the furthest that any viewer reached, never backwards; deleted is the end. A
 * failure that was concluded from silence (see {@link PROVISIONAL}) ends with the first proof that it was none.
 */
import type { MessageStatus } from '@dormouse/gateway-contract';

/** The steps the network reports. */
export type ReceiptStatus = Extract<MessageStatus, 'sent' | 'delivered' | 'read' | 'played' | 'failed'>;

/** The network said how far an own message got. */
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
}

/** A step taken, to be written and told. */
export interface Step {
  status: ReceiptStatus;
  /** '' as in a report without viewer. */
  viewerId: string;
  timestamp: number;
  errors?: StatusReport['errors'];
}

/** The network did not confirm the message, and nothing proves that it took it. */
export const UNCONFIRMED = { code: 408, message: 'the network never confirmed the message' };
/** Every copy the recipient asked for was sent, and none is known to have been readable. */
export const UNREADABLE = { code: 424, message: 'the recipient could not decrypt the message' };

/** Codes of failures that were concluded from silence. */
const PROVISIONAL: readonly number[] = [UNCONFIRMED.code, UNREADABLE.code];

/** The order that the status of a message goes through, lowest first; the only list of it. Failed and deleted stand beside. */
export const STATUS_LADDER = [
  'pending',
  'sent',
  'delivered',
  'read',
  'played',
] as const satisfies readonly MessageStatus[];

/** The part of it that the network reports. */
export const RECEIPT_LADDER: readonly ReceiptStatus[] = STATUS_LADDER.filter((status) => status !== 'pending');

const rankOf = (status: (typeof STATUS_LADDER)[number]): number => STATUS_LADDER.indexOf(status) + 1;

const RANK: Record<MessageStatus, number> = {
  pending: rankOf('pending'),
  sent: rankOf('sent'),
  delivered: rankOf('delivered'),
  read: rankOf('read'),
  played: rankOf('played'),
  failed: Number.POSITIVE_INFINITY,
  deleted: Number.POSITIVE_INFINITY,
};

/** A message on the ladder: its own status and how far each viewer got. */
export class StatusLadder {
  private readonly viewers = new Map<string, number>();
  private readonly unable = new Set<string>();
  private provisional: boolean;

  /** @param withOne a chat of two: who cannot read there is the only viewer */
  constructor(
    private current: MessageStatus,
    taken: readonly { viewerId: string; status: string; errors?: StatusReport['errors'] | null }[],
    private readonly withOne = false,
  ) {
    this.provisional = taken.some(({ status, errors }) => status === 'failed' && isProvisional(errors));
    if (current !== 'failed') this.raise('', RANK[current]);
    for (const { viewerId, status } of taken) {
      if (status === 'failed') this.unable.add(viewerId);
      else if (isMessageStatus(status)) this.raise(viewerId, RANK[status]);
    }
  }

  get status(): MessageStatus {
    return this.current;
  }

  /**
   * The steps that follow from a report, in order; empty when it tells nothing new. Whoever received a message received
   * one that the network had taken, so the first receipt of a pending message tells "sent" as well: the network's own
   * acknowledgement may be written later than the receipt.
   */
  take(report: StatusReport): Step[] {
    if (this.current === 'deleted') return [];
    const { status, timestamp } = report;
    if (status === 'failed') return this.fail(report);
    if (this.current === 'failed') {
      if (!this.provisional) return [];
      this.current = (this.viewers.get('') ?? 0) >= RANK.sent ? 'sent' : 'pending';
    }
    const steps: Step[] = [];
    if (this.current === 'pending') steps.push(this.step('sent', '', timestamp));
    if (status === 'sent') return steps;
    const viewerId = report.viewerId ?? '';
    if (RANK[status] > (this.viewers.get(viewerId) ?? 0)) steps.push(this.step(status, viewerId, timestamp));
    return steps;
  }

  private fail({ status, timestamp, errors, viewerId }: StatusReport): Step[] {
    const step = { status, timestamp, ...(errors && { errors }) };
    if (viewerId === undefined) {
      if (this.current !== 'pending') return [];
      this.current = 'failed';
      this.provisional = isProvisional(errors);
      return [{ ...step, viewerId: '' }];
    }
    const who = this.withOne ? '' : viewerId;
    const received = (this.viewers.get(who) ?? 0) >= RANK.delivered;
    if (received || this.current === 'failed' || this.unable.has(who)) return [];
    this.unable.add(who);
    if (this.withOne) {
      this.current = 'failed';
      this.provisional = isProvisional(errors);
    }
    return [{ ...step, viewerId: who }];
  }

  private step(status: ReceiptStatus, viewerId: string, timestamp: number): Step {
    this.raise(viewerId, RANK[status]);
    if (RANK[status] > RANK[this.current]) this.current = status;
    return { status, viewerId, timestamp };
  }

  private raise(viewerId: string, rank: number): void {
    if (rank > (this.viewers.get(viewerId) ?? 0)) this.viewers.set(viewerId, rank);
  }
}

function isProvisional(errors: StatusReport['errors'] | null): boolean {
  return errors?.some(({ code }) => PROVISIONAL.includes(code)) ?? false;
}

export function isMessageStatus(text: string | null): text is MessageStatus {
  return text !== null && Object.hasOwn(RANK, text);
}

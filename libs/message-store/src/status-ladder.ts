/**
 * Which way the status of an own message may go. Per viewer: sent, delivered, read, played, never backwards. Of the
 * message: pending to failed, or up to the furthest that any viewer reached, never backwards; deleted is the end.
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
   * Contact id of the group's member who received or read it. Absent in a chat of two, where there is only one, and for
   * a step of the message itself (sent, failed).
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

const RANK: Record<MessageStatus, number> = {
  pending: 1,
  sent: 2,
  delivered: 3,
  read: 4,
  played: 5,
  failed: 90,
  deleted: 99,
};

/** A message on the ladder: its own status and how far each viewer got. */
export class StatusLadder {
  private readonly viewers = new Map<string, number>();

  constructor(
    private current: MessageStatus,
    taken: readonly { viewerId: string; status: string }[],
  ) {
    this.raise('', RANK[current]);
    for (const { viewerId, status } of taken) {
      if (isMessageStatus(status)) this.raise(viewerId, RANK[status]);
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
    if (this.current === 'deleted' || this.current === 'failed') return [];
    const { status, timestamp, errors } = report;
    if (status === 'failed') {
      if (this.current !== 'pending') return [];
      this.current = 'failed';
      return [{ status, viewerId: '', timestamp, ...(errors && { errors }) }];
    }
    const steps: Step[] = [];
    if (this.current === 'pending') steps.push(this.step('sent', '', timestamp));
    if (status === 'sent') return steps;
    const viewerId = report.viewerId ?? '';
    if (RANK[status] > (this.viewers.get(viewerId) ?? 0)) steps.push(this.step(status, viewerId, timestamp));
    return steps;
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

export function isMessageStatus(text: string | null): text is MessageStatus {
  return text !== null && Object.hasOwn(RANK, text);
}

/**
 * Own messages that a recipient could not decrypt.
 *
 * What it guarantees: a device that requested the last copy, and has not received the message a while later, is
 * notified as failed: the message in a chat of two, that member in a group. A receipt that comes after all ends it. A
 * worker that dies in between notifies nothing: the message stays at sent.
 */
import { UNREADABLE, type MessageWriter } from '@dormouse/message-store/write';
import { contactOf, isOwn } from '../convert/people.js';
import { COPIES_SENT } from '../socket/open-socket.js';
import type { Attachment, OpenSession, SessionListener } from '../socket/open-session.js';
import { resolveLidsInGroups } from './resolve-lids.js';
import type { InboundContext } from './inbound-context.js';

export interface UnreadableOptions extends Pick<InboundContext, 'groups' | 'eventsReady' | 'now'> {
  readonly writer: Pick<MessageWriter, 'recordStatuses'>;
  /** How long the receipt of the last copy may take. */
  readonly graceMs?: number;
}

const GRACE_MS = 30_000;
/** How many messages and recipients are counted at once; the oldest are forgotten. */
const COUNTED_AT_MOST = 2_000;

export class UnreadableSends implements SessionListener {
  constructor(private readonly options: UnreadableOptions) {}

  attach(session: OpenSession): Attachment {
    const requests = new CopyRequests();
    const timers = new Set<NodeJS.Timeout>();
    let tail: Promise<void> = Promise.resolve();
    session.network.events.onRetryRequest(({ id, chatJid: from, deviceJid: asker, count }) => {
      if (!requests.isLast(`${id} ${asker}`, count)) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        tail = tail
          .then(() => this.failed(session, { id, from, asker }))
          .catch((error: unknown) => session.reportFault(error));
      }, this.options.graceMs ?? GRACE_MS);
      timers.add(timer);
    });
    return {
      drained: () => {
        for (const timer of timers) clearTimeout(timer);
        return tail;
      },
    };
  }

  private async failed(
    session: OpenSession,
    { id, from, asker }: { id: string; from: string; asker: string },
  ): Promise<void> {
    const { writer, groups, eventsReady, now } = this.options;
    const people = await resolveLidsInGroups({ session, groups }, { from, asker });
    const viewerId = contactOf(asker, people);
    if (viewerId === undefined || isOwn(asker, people)) return;
    const { seqs } = await writer.recordStatuses(session.fence, session.channelId, [
      { keyId: id, status: 'failed', viewerId, timestamp: Math.floor(now() / 1_000), errors: [UNREADABLE] },
    ]);
    if (seqs.length > 0) eventsReady(session.channelId);
  }
}

/** How many copies of each message each device has requested. */
class CopyRequests {
  private readonly counts = new Map<string, number>();

  /** Counts a request, which is its sender's nth. @returns whether the copy that answers it is the last one; true once. */
  isLast(key: string, nth: number): boolean {
    const before = this.counts.get(key) ?? 0;
    const count = Math.max(before + 1, nth);
    this.counts.delete(key);
    this.counts.set(key, count);
    const [oldest] = this.counts.keys();
    if (this.counts.size > COUNTED_AT_MOST && oldest !== undefined) this.counts.delete(oldest);
    return before < COPIES_SENT && count >= COPIES_SENT;
  }
}

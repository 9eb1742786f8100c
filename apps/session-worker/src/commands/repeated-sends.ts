/**
 * Sends that their callers repeat (`Idempotency-Key`) while the first one is under way.
 *
 * What it guarantees: one of them runs, of whatever kind; the others wait for it and get its reply, so that the network
 * gets the message once. A failed one, which may be tried again, is forgotten with its reply; a success is remembered
 * until it is surely stored, where later repetitions find it. No entry may be evicted before, so this is no cache with a
 * maximum size.
 */
import type { CommandReply } from '@dormouse/queues';

/** Longer than it takes to store that a message was sent, and its reply. */
const REMEMBERED_MS = 10_000;

interface Send {
  readonly reply: Promise<CommandReply>;
  /** Epoch milliseconds; undefined while it is under way. */
  untilMs?: number;
}

export class RepeatedSends {
  /** The oldest first. */
  private readonly sends = new Map<string, Send>();

  constructor(private readonly now: () => number) {}

  /** Runs it, or waits for the one with the same key that runs already. */
  once(channelId: string, sendAs: string, run: () => Promise<CommandReply>): Promise<CommandReply> {
    this.forgetOld();
    const key = `${channelId}\n${sendAs}`;
    const known = this.sends.get(key);
    if (known) return known.reply;
    const send: Send = { reply: run() };
    this.sends.set(key, send);
    void send.reply.then(({ ok }) => {
      this.sends.delete(key);
      if (ok) this.sends.set(key, Object.assign(send, { untilMs: this.now() + REMEMBERED_MS }));
    });
    return send.reply;
  }

  private forgetOld(): void {
    for (const [key, { untilMs }] of this.sends) {
      if (untilMs === undefined) continue;
      if (untilMs > this.now()) return;
      this.sends.delete(key);
    }
  }
}

/**
 * Messages that wait a short while for their file, and what follows them in their chat.
 *
 * What it guarantees: what is added to a chat is stored in that order; nothing of other chats waits for it; what waits is
 * stored by the queue, in its turn, so that no two writes of a channel are under way at once. It is in the journal until it
 * is stored.
 */
import type { ChannelWriteQueue } from './channel-write-queue.js';

/** One thing that waits. */
export interface WaitingItem {
  /** Resolves when it need not wait any longer. Never rejects. */
  readonly ready: Promise<unknown>;
  readonly store: () => Promise<void>;
}

interface Waiting {
  readonly store: () => Promise<void>;
  ready: boolean;
}

export class WaitingChats {
  private readonly lines = new Map<string, Waiting[]>();

  constructor(private readonly queue: Pick<ChannelWriteQueue, 'enqueue' | 'attempt'>) {}

  /** Whether something of this chat waits, so that what follows must wait, too. */
  has(chatId: string): boolean {
    return this.lines.has(chatId);
  }

  add(chatId: string, { ready, store }: WaitingItem): void {
    const item: Waiting = { store, ready: false };
    const line = this.lines.get(chatId) ?? [];
    this.lines.set(chatId, line);
    line.push(item);
    void ready.then(() => {
      item.ready = true;
      this.queue.enqueue(() => this.storeReady(chatId, line));
    });
  }

  /** Stores all that waits, now: in a step of the queue that what waits must not come after. */
  async flush(): Promise<void> {
    for (const [chatId, line] of this.lines) {
      for (const item of line) item.ready = true;
      await this.storeReady(chatId, line);
    }
  }

  private async storeReady(chatId: string, line: Waiting[]): Promise<void> {
    while (line[0]?.ready) {
      const [first] = line;
      await this.queue.attempt(first.store);
      line.shift();
    }
    if (line.length === 0 && this.lines.get(chatId) === line) this.lines.delete(chatId);
  }
}

import type { ChatTimer } from '@dormouse/message-store/write';
import type { OpenSession } from './open-session.js';

/**
 * How long messages of chats of two stay, as learnt from what the network delivers. Sends read it here: the store is
 * queried once for each chat of a socket generation, so that none of them costs a round trip, and nothing is remembered
 * across a change of owner.
 */
export class ChatTimers {
  private readonly known = new WeakMap<OpenSession, Map<string, ChatTimer | undefined>>();

  /** @param read what is stored of a chat */
  constructor(private readonly read: (channelId: string, chatId: string) => Promise<ChatTimer | undefined>) {}

  /** The timer of a chat; undefined while none is known. */
  async of(session: OpenSession, chatId: string): Promise<ChatTimer | undefined> {
    const timers = this.timersOf(session);
    if (!timers.has(chatId)) {
      const stored = await this.read(session.channelId, chatId);
      if (!timers.has(chatId)) timers.set(chatId, stored); // what was learnt meanwhile is newer
    }
    return timers.get(chatId);
  }

  /**
   * A timer was set or seen in force.
   * @returns whether that is news, to be stored
   */
  learn(session: OpenSession, chatId: string, timer: ChatTimer): boolean {
    const timers = this.timersOf(session);
    const before = timers.get(chatId);
    if (before && before.setAtS > timer.setAtS) return false;
    timers.set(chatId, timer);
    return before?.seconds !== timer.seconds;
  }

  private timersOf(session: OpenSession): Map<string, ChatTimer | undefined> {
    const timers = this.known.get(session) ?? new Map<string, ChatTimer | undefined>();
    this.known.set(session, timers);
    return timers;
  }
}

/**
 * Lets events leave the library's buffer in time.
 *
 * Two oddities of that buffer (`event-buffer.js` of 7.0.0-rc14): what is handled in the queue of offline stanzas, where
 * every message of ours is (`socket/inbound-journal.ts`), leaves it 100 ms later; and once the timer for that has
 * fired while nothing was buffered, none is set any more: events then wait for the next stanza, or for 30 s. Here a
 * message that did not wait at the network goes at once, and everything else after 100 ms.
 *
 * While a new device gets its first state only messages are hurried: what was set about chats must meet the history in
 * one buffer, or the library loses it.
 */
import type { BaileysEventMap, WAMessage, WASocket } from '@whiskeysockets/baileys';

/** As long as the library means to wait. */
const HELD_FOR_MS = 100;

export interface PromptFlushOptions {
  /** Is the message part of what came while the session was away? Such come many at a time. */
  readonly hasWaited: (message: WAMessage) => boolean;
  /** Has the device its first state? */
  readonly isSetUp: () => boolean;
}

/** Watches what a socket emits from now on. */
export function flushEventBufferPromptly(
  ev: Pick<WASocket['ev'], 'emit' | 'flush' | 'isBuffering'>,
  { hasWaited, isSetUp }: PromptFlushOptions,
): void {
  const emit = ev.emit.bind(ev);
  let isHurried = false;
  let timer: NodeJS.Timeout | undefined;

  const letGo = (): void => {
    clearTimeout(timer);
    timer = undefined;
    isHurried = false;
    ev.flush();
  };
  const isUrgent = (event: keyof BaileysEventMap, data: BaileysEventMap[keyof BaileysEventMap]): boolean =>
    event === 'messages.upsert' &&
    !(data as BaileysEventMap['messages.upsert']).messages.every((message) => hasWaited(message));

  ev.emit = (event, data) => {
    const isEmitted = emit(event, data);
    if (!ev.isBuffering()) return isEmitted;
    if (isUrgent(event, data)) {
      // What the library emits beside a message it emits in the same turn.
      if (!isHurried) setImmediate(letGo);
      isHurried = true;
    } else if (isSetUp()) {
      timer ??= setTimeout(letGo, HELD_FOR_MS).unref();
    }
    return isEmitted;
  };
}

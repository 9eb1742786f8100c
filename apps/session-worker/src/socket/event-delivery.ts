/**
 * When what the library has emitted was given to the listeners: it gathers events in a buffer, and more so while a new
 * device gets its first state, when what it emits of a chat must meet the history in that buffer.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { WASocket } from '@whiskeysockets/baileys';

type Events = Pick<WASocket['ev'], 'flush' | 'isBuffering' | 'process'>;

export class EventDelivery {
  private hurrying: Promise<void> | undefined;
  private waiting: (() => void)[] = [];

  /**
   * Make it after the listeners are attached.
   * @param isSetUp has the device its first state?
   */
  constructor(
    private readonly ev: Events,
    readonly isSetUp: () => boolean,
  ) {
    ev.process(() => this.delivered());
  }

  /** Resolves when everything that was emitted so far has been given to the listeners; hurried once the device is set up. */
  all(): Promise<void> {
    if (!this.ev.isBuffering()) return Promise.resolve();
    if (!this.isSetUp()) return new Promise((resolve) => this.waiting.push(resolve));
    // What is emitted in the same turn goes along.
    this.hurrying ??= turn().then(() => {
      this.hurrying = undefined;
      this.ev.flush();
    });
    return this.hurrying;
  }

  /** The buffer is emptied after it has stopped gathering; events that it does not gather pass beside it. */
  private delivered(): void {
    if (this.ev.isBuffering()) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

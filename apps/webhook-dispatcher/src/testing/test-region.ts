import { eventually } from './eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from './test-dispatcher.js';
import { TestOutbox, type CursorState } from './test-outbox.js';
import { TestReceiver } from './test-receiver.js';

/** The numbers 1 to `count`, as events of a new channel are numbered. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** One outbox, one receiver for the webhooks of its channels, and dispatchers side by side, as processes of a region are. */
export class TestRegion {
  readonly #started: RunningDispatcher[] = [];

  private constructor(
    readonly outbox: TestOutbox,
    readonly hook: TestReceiver,
  ) {}

  static async open(): Promise<TestRegion> {
    return new TestRegion(await TestOutbox.open(), await TestReceiver.open());
  }

  /** Starts one more dispatcher; `close` stops it. */
  start(options: Parameters<typeof startDispatcher>[1] = {}): RunningDispatcher {
    const running = startDispatcher(this.outbox.url, options);
    this.#started.push(running);
    return running;
  }

  /** Channels whose one webhook is the receiver. */
  channels(count: number): Promise<string[]> {
    return Promise.all(upTo(count).map(() => this.outbox.channel([webhook({ url: this.hook.url })])));
  }

  /** Resolves once the cursors of all these channels are at the position and no dispatcher holds one. */
  allAt(channelIds: string[], position: number): Promise<CursorState[]> {
    return eventually(
      async () => (await Promise.all(channelIds.map((id) => this.outbox.cursors(id)))).flat(),
      (cursors) => cursors.every((cursor) => cursor.position === position && !cursor.leased),
    );
  }

  async stopDispatchers(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((running) => running.stop()));
  }

  async close(): Promise<void> {
    await this.stopDispatchers();
    await this.hook.close();
    await this.outbox.close();
  }
}

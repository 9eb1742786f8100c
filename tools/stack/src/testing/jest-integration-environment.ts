/**
 * The environment of Jest's integration and e2e projects. Baileys leaves timers of up to two minutes behind each socket
 * that it closes (timeouts of queries that were answered, delays before what is not sent any more), and nothing can clear
 * them: they are kept from keeping the process alive. Servers and connections are not: what a spec leaves open of those
 * shows itself as a run that does not end.
 */
import { TestEnvironment } from 'jest-environment-node';

export default class IntegrationEnvironment extends TestEnvironment {
  private readonly timers = new Set<NodeJS.Timeout>();

  override async setup(): Promise<void> {
    await super.setup();
    const { timers } = this;
    const original = this.global.setTimeout;
    const remembering = <Arguments extends unknown[]>(
      callback: (...given: Arguments) => void,
      delayMs?: number,
      ...given: Arguments
    ): NodeJS.Timeout => {
      const timer = original(
        (...values: Arguments) => {
          timers.delete(timer);
          callback(...values);
        },
        delayMs,
        ...given,
      );
      timers.add(timer);
      return timer;
    };
    this.global.setTimeout = Object.assign(remembering, original);
  }

  override async teardown(): Promise<void> {
    for (const timer of this.timers) timer.unref();
    this.timers.clear();
    await super.teardown();
  }
}

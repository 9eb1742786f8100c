/** The environment of Jest's integration and e2e projects. */
import NativeEnvironment from './jest-native-environment.js';
import { rememberTimers } from './unreferenced-timers.js';

export default class IntegrationEnvironment extends NativeEnvironment {
  private release: (() => void) | undefined;

  override async setup(): Promise<void> {
    await super.setup();
    this.release = rememberTimers(globalThis);
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    this.release?.();
  }
}

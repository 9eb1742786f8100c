/**
 * What Jest's environments of specs that run without a sandbox have in common: a spec has the globals of Jest's worker
 * process, and so has what it imports, which is loaded once for all specs of the process (`native-runtime.cjs`). What a
 * spec changed of the process is put back at its end.
 */
import { env } from 'node:process';
import type { Context } from 'node:vm';
import type { JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** What Jest replaces for each file. */
const REPLACED: readonly [object, string][] = [
  [globalThis, 'console'],
  [process, 'exit'],
  [process, 'getBuiltinModule'],
];

type Listener = (...given: unknown[]) => void;

/**
 * Listeners of the process by event: those that a server adds for signals would outlive the spec that started it. What runs at
 * the end of the process stays: modules that are loaded once ask for it once, as to end the processes that they started.
 */
function processListeners(): Map<string | symbol, Listener[]> {
  const names = process.eventNames().filter((name) => name !== 'exit' && name !== 'beforeExit');
  return new Map(names.map((name) => [name, process.rawListeners(name) as Listener[]]));
}

/** What Jest asks of an environment, but for `__coverage__` in its type of the globals, which is there where coverage is measured. */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly moduleMocker = new ModuleMocker(globalThis);
  private readonly replaced = REPLACED.map(([owner, name]) => ({
    owner,
    name,
    value: Reflect.get(owner, name) as unknown,
  }));
  private readonly variables = { ...env };
  private readonly listeners = processListeners();

  constructor({ projectConfig }: JestEnvironmentConfig) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  /** There is none: nothing of the spec runs in a sandbox. */
  getVmContext(): Context | null {
    return null;
  }

  setup(): Promise<void> {
    return Promise.resolve();
  }

  teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    for (const { owner, name, value } of this.replaced) Reflect.set(owner, name, value);
    for (const name of Object.keys(env)) if (!(name in this.variables)) Reflect.deleteProperty(env, name);
    Object.assign(env, this.variables);
    for (const [name, listeners] of processListeners())
      for (const listener of listeners)
        if (!this.listeners.get(name)?.includes(listener)) process.removeListener(name, listener);
    return Promise.resolve();
  }
}

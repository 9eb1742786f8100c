import type { JestEnvironmentConfig } from '@jest/environment';
import NativeEnvironment from './jest-native-environment.js';

const config = { globalConfig: {}, projectConfig: {} } as JestEnvironmentConfig;

describe('the environment of a spec', () => {
  it('puts back what the spec changed of the process', async () => {
    const log = globalThis.console;
    const { exit, getBuiltinModule } = process;
    const path = process.env.PATH;
    const listening = process.listenerCount('SIGUSR2');
    const environment = new NativeEnvironment(config);
    await environment.setup();
    environment.fakeTimersModern.useFakeTimers();
    globalThis.console = Object.create(log) as Console;
    process.exit = () => {
      throw new Error('replaced');
    };
    process.getBuiltinModule = () => undefined as never;
    process.env.PATH = '/nowhere';
    process.env.ONLY_OF_THIS_SPEC = 'yes';
    process.on('SIGUSR2', () => undefined);
    await environment.teardown();
    expect([globalThis.console, process.exit, process.getBuiltinModule]).toEqual([log, exit, getBuiltinModule]);
    expect([process.env.PATH, process.env.ONLY_OF_THIS_SPEC]).toEqual([path, undefined]);
    expect(process.listenerCount('SIGUSR2')).toBe(listening);
    expect(jest.isMockFunction(setTimeout)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
});

/**
 * Specs run as the compiler made them, in Jest's worker process itself: what they import is loaded once for all specs of the
 * process, as `native-runtime.cjs` explains. So they share the state of modules, and what one patches stays patched.
 */
const native = {
  runtime: '<rootDir>/tools/stack/scripts/native-runtime.cjs',
  transform: {},
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.dormouse/'],
};

/** The tier is in the file name: x.spec.ts has no I/O, x.int.spec.ts uses real stores, servers or processes, x.e2e.spec.ts the whole stack. */
export default {
  workerIdleMemoryLimit: '700MB',
  // A worker process that has loaded everything needs more than the usual 500 ms to free its memory and to note what it compiled.
  workerGracefulExitTimeout: 10_000,
  testSequencer: '<rootDir>/tools/stack/scripts/file-order.mjs',
  // For what hangs: a test that is slow because the machine is busy has not failed. Jest ignores it in a project.
  testTimeout: 60_000,
  projects: [
    {
      ...native,
      displayName: 'unit',
      testEnvironment: '<rootDir>/tools/stack/dist/testing/jest-unit-environment.js',
      testMatch: ['<rootDir>/{apps,libs,tools}/*/src/**/*.spec.ts'],
      testPathIgnorePatterns: [...native.testPathIgnorePatterns, '\\.int\\.spec\\.ts$', '\\.e2e\\.spec\\.ts$'],
    },
    {
      ...native,
      displayName: 'integration',
      testEnvironment: '<rootDir>/tools/stack/dist/testing/jest-integration-environment.js',
      testMatch: ['<rootDir>/{apps,libs,tools}/*/src/**/*.int.spec.ts'],
      globalSetup: '<rootDir>/tools/stack/dist/testing/jest-stores.js',
      globalTeardown: '<rootDir>/tools/stack/dist/testing/jest-stores-teardown.js',
    },
    {
      ...native,
      displayName: 'e2e',
      testEnvironment: '<rootDir>/tools/stack/dist/testing/jest-integration-environment.js',
      testMatch: ['<rootDir>/apps/e2e/src/**/*.e2e.spec.ts'],
      globalSetup: '<rootDir>/tools/stack/dist/testing/jest-shared-stacks.js',
      globalTeardown: '<rootDir>/tools/stack/dist/testing/jest-shared-stacks-teardown.js',
    },
  ],
};

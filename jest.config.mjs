import { fileURLToPath } from 'node:url';

const swc = [
  fileURLToPath(import.meta.resolve('@swc/jest')),
  {
    swcrc: false,
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', tsx: true, decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, react: { runtime: 'automatic' } },
      keepClassNames: true,
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

/** Settings every tier shares: native ES modules through swc, `@dormouse/*` resolved to sources by export condition. */
const tier = {
  testEnvironment: 'node',
  // A global of Jest's sandbox is looked up through an interceptor, a thousand times more slowly: PNG files took seconds.
  sandboxInjectedGlobals: ['Math', 'Uint8Array'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testEnvironmentOptions: { customExportConditions: ['@dormouse/source', 'node', 'node-addons'] },
  transform: { '^.+\\.tsx?$': swc },
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.dormouse/'],
};

/** The tier is in the file name: x.spec.ts has no I/O, x.int.spec.ts uses real stores, servers or processes, x.e2e.spec.ts the whole stack. */
export default {
  workerIdleMemoryLimit: '700MB',
  testSequencer: '<rootDir>/tools/stack/scripts/file-order.mjs',
  // For what hangs: a test that is slow because the machine is busy has not failed. Jest ignores it in a project.
  testTimeout: 30_000,
  projects: [
    {
      ...tier,
      displayName: 'unit',
      testEnvironment: '<rootDir>/tools/stack/dist/testing/jest-unit-environment.js',
      testMatch: ['<rootDir>/{apps,libs,tools}/*/src/**/*.spec.ts'],
      testPathIgnorePatterns: [...tier.testPathIgnorePatterns, '\\.int\\.spec\\.ts$', '\\.e2e\\.spec\\.ts$'],
    },
    {
      ...tier,
      displayName: 'integration',
      testEnvironment: '<rootDir>/tools/stack/dist/testing/jest-integration-environment.js',
      testMatch: ['<rootDir>/{apps,libs,tools}/*/src/**/*.int.spec.ts'],
      globalSetup: '<rootDir>/tools/stack/dist/testing/jest-stores.js',
      globalTeardown: '<rootDir>/tools/stack/dist/testing/jest-stores-teardown.js',
    },
    {
      ...tier,
      displayName: 'e2e',
      testEnvironment: '<rootDir>/tools/stack/dist/testing/jest-integration-environment.js',
      testMatch: ['<rootDir>/apps/e2e/src/**/*.e2e.spec.ts'],
      globalSetup: '<rootDir>/tools/stack/dist/testing/jest-shared-stacks.js',
      globalTeardown: '<rootDir>/tools/stack/dist/testing/jest-shared-stacks-teardown.js',
    },
  ],
};

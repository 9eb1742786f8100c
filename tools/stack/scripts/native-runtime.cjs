// Jest's runtime for specs that run without a sandbox. Jest would load some 3,000 modules into a sandbox for each spec of an
// app, 1 to 2 s of processor time; here Node imports what the compiler made of a spec, and keeps what it imports for the next
// spec of the process. Tests, hooks, timeouts and reports are Jest's own.
// CommonJS, because Jest requires it and takes what it exports for the class.
const { existsSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

/** Where Jest keeps, in the globals, the tests of a file and what is set for them: the next file must not find it. */
const OF_A_FILE = [
  ...['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'],
  ...['RETRY_TIMES', 'RETRY_IMMEDIATELY', 'WAIT_BEFORE_RETRY'],
];

/** Addresses of the specs that this process has run. */
const imported = new Set();

/**
 * The client of the simulated network's specs is the network library as it is published; the worker's specs patch it.
 * @throws when a spec of the simulated network comes after one of the worker in this process
 */
function requirePublishedLibrary(href) {
  if (!href.includes('/apps/network-simulator/')) return;
  const patching = [...imported].find((other) => other.includes('/apps/session-worker/'));
  if (patching)
    throw new Error(`The network library may be patched by ${patching}: file-order.mjs has its order wrong.`);
}

/** What the compiler made of a source. @throws when it is not compiled */
function compiled(source) {
  const path = source.replace(/^(.*\/(?:apps|libs|tools)\/[^/]+)\/src\/(.*)\.tsx?$/, '$1/dist/$2.js');
  if (!existsSync(path)) throw new Error(`${source} is not compiled: npm run build, or npm test, which builds first.`);
  return path;
}

module.exports = class NativeRuntime extends Runtime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** The part of Jest that runs the tests of one file, and keeps them in its module: loaded anew for each file. */
  requireInternalModule(from, to) {
    if (to !== undefined) return super.requireInternalModule(from, to);
    for (const key of Object.getOwnPropertySymbols(globalThis))
      if (OF_A_FILE.includes(key.description)) Reflect.deleteProperty(globalThis, key);
    delete require.cache[from];
    return require(from);
  }

  async unstable_importModule(source) {
    globalThis.jest = this.requireModuleOrMock(source, '@jest/globals').jest;
    const { href } = pathToFileURL(compiled(source));
    requirePublishedLibrary(href);
    // Only a watching Jest runs a file twice in one process.
    await import(imported.has(href) ? `${href}?${Date.now()}` : href);
    imported.add(href);
  }
};

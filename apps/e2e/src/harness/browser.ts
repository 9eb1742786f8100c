import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** The shell comes first: it draws no windows and needs a third of the processor time of the whole browser. */
const BROWSERS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  // A page is open for seconds: too short for code to earn what its optimization costs.
  '--js-flags=--no-maglev,--no-opt',
];
const browserPath = BROWSERS.find((path) => existsSync(path));
const isCi = process.env['CI'] !== undefined;

/** `describe` for journeys in a browser: skipped where none is installed, except in CI, where they fail without one. */
export function describeInBrowser(name: string, specs: () => void): void {
  const present = browserPath !== undefined || isCi;
  (present ? describe : describe.skip)(name, specs);
}

/** @throws when no browser is installed */
export function openBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error(`no browser is installed: one of ${BROWSERS.join(', ')} is needed`);
  return chromium.launch({ executablePath: browserPath, args: FLAGS });
}

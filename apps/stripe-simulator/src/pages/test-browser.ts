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

/** `describe` for specs of the pages: skipped where no browser is installed. */
export function describeInBrowser(name: string, specs: () => void): void {
  const present = browserPath !== undefined;
  (present ? describe : describe.skip)(name, specs);
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ ...(browserPath !== undefined && { executablePath: browserPath }), args: FLAGS });
}

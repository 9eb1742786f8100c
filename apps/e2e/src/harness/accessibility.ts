/** What a page owes to those who use it without a mouse, without seeing it, or on a small screen. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE_FILE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** WCAG 2.2 AA, as axe names its parts. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const SERIOUS = new Set(['serious', 'critical']);
const SMALLEST = { width: 360, height: 740 };
/** The dark look differs in its colours alone. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** The page notices another look or size with the next frame; what it then moves or fades is over with its animations. */
const SETTLED = `(async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))));
  const finite = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(finite.map(({ finished }) => finished));
})()`;

/**
 * Everything that is wrong with what the page shows now: serious findings of axe in the light and in the dark look, and
 * whether it is wider than a screen of 360 px. Empty for a good page. The page is left in the light look and in its size.
 */
export async function pageFaults(page: Page): Promise<string[]> {
  const faults = [...(await faultsInLook(page, 'dark')), ...(await faultsInLook(page, 'light'))];
  const beyondPx = await widthBeyondSmallest(page);
  return beyondPx > 0 ? [...faults, `${beyondPx} px wider than ${SMALLEST.width} px`] : faults;
}

/**
 * Serious findings of axe in one look, in which the page is left; in the dark one of its colours alone.
 * @param without selectors of what is not looked at
 */
export async function faultsInLook(page: Page, look: 'light' | 'dark', without: string[] = []): Promise<string[]> {
  await page.emulateMedia({ colorScheme: look, reducedMotion: 'reduce' });
  await page.evaluate(SETTLED);
  const faults = await axeFaults(page, { ...(look === 'dark' && { rules: RULES_OF_COLOURS }), without });
  return faults.map((fault) => `${look}: ${fault}`);
}

/**
 * Serious findings of axe: rule, element and what is wrong with it. axe is evaluated past the page's content security
 * policy, which stays in force for the page itself.
 * @param rules names of single rules; absent: all of WCAG 2.2 AA
 */
async function axeFaults(
  page: Page,
  { rules, without }: { rules?: readonly string[]; without: string[] },
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await readFile(AXE_FILE, 'utf8'));
  const context = JSON.stringify({ exclude: without.map((selector) => [selector]) });
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${context}, ${JSON.stringify(rules ? { ...OPTIONS, runOnly: rules } : OPTIONS)})`,
  );
  return violations
    .filter(({ impact }) => SERIOUS.has(impact ?? ''))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary ?? ''}`));
}

/**
 * What axe's findings of an element depend on, but for its words: its tag, classes, attributes by name, whether it holds text, and
 * the same of all that it is in. One key for each element of the page, in the document's order.
 */
const KEYS_OF_ELEMENTS = `[...document.body.querySelectorAll('*')].map((one) => {
  const textOf = ({ childNodes }) => [...childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
  let key = textOf(one) + ' ' + one.getAttributeNames().sort();
  for (let part = one; part !== document.body; part = part.parentElement) {
    key += '<' + part.tagName + '.' + [...part.classList].sort().join('.');
  }
  return key;
})`;

/**
 * Marks what equals something examined before, with all that it holds, so that `EXAMINED` selects it.
 * @param keys of elements that were examined; those of this page are added
 */
export async function markExamined(page: Page, keys: Set<string>): Promise<void> {
  const isNew: boolean[] = [];
  for (const key of await page.evaluate<string[]>(KEYS_OF_ELEMENTS)) {
    isNew.push(!keys.has(key));
    keys.add(key);
  }
  await page.evaluate(`{
    const isNew = ${JSON.stringify(isNew)};
    const elements = [...document.body.querySelectorAll('*')];
    const holdsNew = new Set([document.body]);
    for (let one of elements.filter((_, index) => isNew[index])) {
      for (; one !== null && !holdsNew.has(one); one = one.parentElement) holdsNew.add(one);
    }
    for (const one of elements) {
      if (!holdsNew.has(one) && holdsNew.has(one.parentElement)) one.toggleAttribute('data-examined', true);
    }
  }`);
}

export const EXAMINED = '[data-examined]';

const OPTIONS: RunOptions = { runOnly: RULES, resultTypes: ['violations'] };

/** Pixels by which the page is wider than the smallest screen. */
async function widthBeyondSmallest(page: Page): Promise<number> {
  const size = page.viewportSize();
  await page.setViewportSize(SMALLEST);
  await page.evaluate(SETTLED);
  const beyondPx = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  if (size) await page.setViewportSize(size);
  return beyondPx;
}

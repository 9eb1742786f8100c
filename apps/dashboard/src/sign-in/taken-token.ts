import { useSyncExternalStore } from 'react';
import { LinkToken } from './link-token.js';

/** The token of the link that this window was opened with. The first script of the page imports this before all else. */
const linkToken = new LinkToken(window);
linkToken.take();
// A second link in the same window changes what follows `#` alone.
window.addEventListener('hashchange', linkToken.take);

/** The token of the link that led to a page; undefined: the page was opened without one, or loaded again. */
export function useLinkToken(path: string): string | undefined {
  return useSyncExternalStore(linkToken.subscribe, () => linkToken.of(path));
}

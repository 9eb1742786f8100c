import { fileURLToPath } from 'node:url';

/** Path under which the site is served: its pages link to each other with it. */
export const DOCS_PREFIX = '/docs';

/** Folder of the built site. It holds files named as their addresses end, with `.html`. */
export const SITE_FOLDER = fileURLToPath(new URL('../dist/site/', import.meta.url));

/** Folder of what never changes under its name. */
export const ASSETS = 'assets';

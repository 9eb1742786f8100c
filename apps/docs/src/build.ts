/** Builds the site into dist/site: run after the compiler. */
import { buildSite } from './build-site.js';
import { SITE_FOLDER } from './index.js';

await buildSite(SITE_FOLDER);

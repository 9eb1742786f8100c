import { packageVersion } from '@dormouse/bootstrap';

/** The version shown by GET /health. */
export const VERSION = packageVersion(new URL('../package.json', import.meta.url));

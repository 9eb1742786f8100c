import { packageVersion } from '@dormouse/bootstrap';

/** The version in channel events. */
export const VERSION = packageVersion(new URL('../package.json', import.meta.url));

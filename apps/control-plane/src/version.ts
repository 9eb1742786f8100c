import { packageVersion } from '@dormouse/bootstrap';

/** The version in traces. */
export const VERSION = packageVersion(new URL('../package.json', import.meta.url));

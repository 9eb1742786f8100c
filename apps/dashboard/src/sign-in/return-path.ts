const HOME = '/';
/** Any origin will do: it is only seen whether a path leaves it. */
const SOME_ORIGIN = 'https://here.invalid';

/** Where to go after a sign-in: a path of this origin, whatever a link claims. */
export function returnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || !/^\/(?![/\\])[^\\]*$/.test(wanted)) return HOME;
  const { origin, pathname, search, hash } = new URL(wanted, SOME_ORIGIN);
  return origin === SOME_ORIGIN ? pathname + search + hash : HOME;
}

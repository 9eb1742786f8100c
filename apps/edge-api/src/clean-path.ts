/**
 * The path as the router wants it. Clients of the compatible gateway build paths like `/messages//text` and
 * `/contacts/`; ids arrive with `%40` for `@` (the router decodes that) and now and then with a bare `%`, which would
 * be no URL at all.
 */
export function cleanUrl(url: string): string {
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const query = queryAt === -1 ? '' : url.slice(queryAt);
  const clean = path
    .replace(/\/{2,}/g, '/')
    .replace(/(.)\/$/, '$1')
    .replace(/%(?![0-9a-f]{2})/gi, '%25');
  return (isDecodable(clean) ? clean : clean.replace(/%(?!25)/g, '%25')) + query;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

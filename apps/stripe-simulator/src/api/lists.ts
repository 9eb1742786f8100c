import type { Collection } from '../objects/collection.js';
import type { AnyRecord } from '../objects/records.js';
import { noSuch } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';
import type { Answer } from './operation.js';

/** What a request for a list says about its page. */
export interface Paging {
  limit?: number | undefined;
  starting_after?: string | undefined;
  ending_before?: string | undefined;
}

const PAGE = 10;

/** One page of what matches, newest first, as the API answers it. */
export function listAnswer<T extends AnyRecord>(
  world: World,
  collection: Collection<T>,
  paging: Paging,
  url: string,
  matches: (record: T) => boolean,
): Answer {
  const { limit = PAGE, starting_after: after, ending_before: before } = paging;
  for (const [param, id] of Object.entries({ starting_after: after, ending_before: before }))
    if (id !== undefined && !collection.get(id)) throw noSuch(nounOf(url), id, param);
  const candidates = before === undefined ? collection.newestFirst(after) : collection.oldestFirst(before);
  const found: T[] = [];
  for (const record of candidates) {
    if (!matches(record)) continue;
    found.push(record);
    if (found.length > limit) break;
  }
  const page = found.slice(0, limit);
  if (before !== undefined) page.reverse();
  const data = page.map((record) => world.views.of(record));
  return { object: { object: 'list', data, has_more: found.length > limit, url } };
}

function nounOf(url: string): string {
  return (url.split('/').at(-1) ?? '').replace(/s$/, '');
}

/** One page of a search. */
export function searchAnswer<T extends AnyRecord>(
  world: World,
  collection: Collection<T>,
  given: { limit?: number | undefined; page?: string | undefined },
  url: string,
  matches: (record: T) => boolean,
): Answer {
  const { limit = PAGE, page } = given;
  const found: T[] = [];
  for (const record of collection.newestFirst(page)) {
    if (!matches(record)) continue;
    found.push(record);
    if (found.length > limit) break;
  }
  const shown = found.slice(0, limit);
  const hasMore = found.length > limit;
  const data = shown.map((record) => world.views.of(record));
  const next = hasMore ? (shown.at(-1)?.id ?? null) : null;
  return { object: { object: 'search_result', data, has_more: hasMore, next_page: next, url } };
}

/** One place that can be found: a page or a heading in it. */
export interface SearchEntry {
  title: string;
  /** Title of its page. */
  page: string;
  address: string;
  /** Other words it is found by, in small letters. */
  words: string;
}

const MOST = 12;

/** Entries that have all words, the best first: words in the title count more, and most at its beginning. */
export function findEntries(entries: readonly SearchEntry[], text: string): SearchEntry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = entries.map((entry) => ({ entry, score: scoreOf(entry, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

function scoreOf({ title, words: body }: SearchEntry, words: readonly string[]): number {
  const small = title.toLowerCase();
  let score = 0;
  for (const word of words) {
    const inTitle = small.indexOf(word);
    if (inTitle === -1 && !body.includes(word)) return 0;
    score += inTitle === 0 ? 8 : inTitle > 0 ? 5 : 1;
  }
  return score + 1 / (1 + small.length);
}

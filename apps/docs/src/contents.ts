/** The pages of the site in the order in which they are listed, and where their text is. */

export interface PageEntry {
  /** Address below the prefix; empty for the home page. */
  slug: string;
  title: string;
  /** Markdown file, relative to the project; absent for pages that are generated. */
  source?: string;
}

export interface Section {
  title: string;
  pages: readonly PageEntry[];
}

export const HOME: PageEntry = { slug: '', title: 'Documentation', source: 'content/home.md' };

/** Sections of guides; references are added to them by the build. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Running it',
    pages: [
      { slug: 'settings', title: 'Settings', source: '../../docs/settings.md' },
      { slug: 'metrics', title: 'Metrics', source: '../../docs/metrics.md' },
    ],
  },
];

export const ERRORS: PageEntry = { slug: 'errors', title: 'Errors', source: '../../docs/errors.md' };

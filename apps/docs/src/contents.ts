/** The pages of the site in the order in which they are listed, and where their text is. */

export interface PageEntry {
  /** Address below the prefix; empty for the home page. */
  slug: string;
  title: string;
  /** Markdown file, relative to the project; absent for pages that are generated. */
  source?: string;
  /** Pages within it, listed below it while one of them is open. */
  children?: readonly PageEntry[];
}

export interface Section {
  title: string;
  pages: readonly PageEntry[];
}

export const HOME: PageEntry = { slug: '', title: 'Documentation', source: 'content/home.md' };

const guide = (slug: string, title: string): PageEntry => ({ slug, title, source: `content/${slug}.md` });

/** Sections of guides; the build adds the references. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      guide('first-message', 'First message'),
      guide('linking', 'Linking a number'),
      guide('sandbox', 'The sandbox'),
      guide('migrating', 'Moving from a compatible API'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      guide('media', 'Files'),
      guide('webhooks', 'Webhooks'),
      guide('signatures', 'Verifying signatures'),
      guide('events', 'Polling for events'),
      guide('idempotency', 'Sending once'),
      guide('limits', 'Limits'),
      guide('sleep', 'Sleep'),
      guide('regions', 'Regions'),
    ],
  },
  {
    title: 'Accounts',
    pages: [guide('teams', 'Teams and keys'), guide('billing', 'Billing')],
  },
  {
    title: 'Running it',
    pages: [
      guide('self-hosting', 'Running it yourself'),
      guide('operators', 'Operators'),
      guide('traces', 'Traces'),
      { slug: 'settings', title: 'Settings', source: '../../docs/settings.md' },
      { slug: 'metrics', title: 'Metrics', source: '../../docs/metrics.md' },
      { slug: 'versions', title: 'Versions', source: '../../docs/versions.md' },
    ],
  },
];

export const ERRORS: PageEntry = { slug: 'errors', title: 'Errors', source: '../../docs/errors.md' };

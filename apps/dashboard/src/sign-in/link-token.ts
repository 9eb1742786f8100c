/**
 * The token of a link that leads to one of the pages below.
 *
 * Guarantees: it leaves the address bar before anything else is done with it, so it is in no history, bookmark or screenshot; it is
 * kept in memory alone, so a page that is loaded again needs the link again; it is sent by the button of the page, so opening
 * a link uses nothing up. Links carry it behind `#`; those of earlier mails in their query.
 */
const LINK_PAGES = ['/verify-email', '/new-password', '/invitation', '/first-owner'];

type Listener = () => void;

/** The parts of a window that it uses. */
export interface AddressBar {
  location: Pick<Location, 'pathname' | 'search' | 'hash'>;
  history: Pick<History, 'state' | 'replaceState'>;
}

export class LinkToken {
  #kept: { path: string; token: string } | undefined;
  readonly #listeners = new Set<Listener>();

  constructor(private readonly bar: AddressBar) {}

  /** Takes the token out of the address bar, if there is one. */
  readonly take = (): void => {
    const { pathname, search, hash } = this.bar.location;
    if (!LINK_PAGES.includes(pathname)) return;
    const token = new URLSearchParams(hash.slice(1)).get('token') ?? new URLSearchParams(search).get('token');
    if (token === null) return;
    this.#kept = { path: pathname, token };
    this.bar.history.replaceState(this.bar.history.state, '', pathname);
    for (const listener of this.#listeners) listener();
  };

  /** The token that was taken for a page. */
  of(path: string): string | undefined {
    return this.#kept?.path === path ? this.#kept.token : undefined;
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
}

import type { BrowserContext } from 'playwright-core';
import { eventually } from './eventually.js';

/** Where a user's mails and pages are. */
export interface DashboardPlaces {
  /** Address of the dashboard. */
  origin: string;
  /** Of the mailbox. */
  mailbox: string;
}

/** Link to a page of the dashboard in the newest mail to an address, once it is there. */
export function linkInMail({ mailbox }: Pick<DashboardPlaces, 'mailbox'>, to: string, page: string): Promise<URL> {
  return eventually(
    async () => {
      const listed = (await (await fetch(`${mailbox}/mails?to=${encodeURIComponent(to)}`)).json()) as { id: number }[];
      for (const { id } of listed.toReversed()) {
        const { links } = (await (await fetch(`${mailbox}/mails/${id}`)).json()) as { links: string[] };
        const link = links.map((each) => new URL(each)).find(({ pathname }) => pathname === page);
        if (link) return link;
      }
      return undefined;
    },
    { what: `a mail to ${to} with a link to ${page}` },
  );
}

const PASSWORD = 'violet tractor sings 42';

/** A confirmed user with an account of their own, made through the API, who is signed in in a browser. */
export class DashboardUser {
  readonly password = PASSWORD;
  #cookie = '';

  private constructor(
    private readonly places: DashboardPlaces,
    readonly email: string,
  ) {}

  static async create(places: DashboardPlaces, email: string): Promise<DashboardUser> {
    const user = new DashboardUser(places, email);
    await user.call('POST', '/auth/sign-up', { name: 'Ann', email, password: PASSWORD });
    const link = await linkInMail(places, email, '/verify-email');
    const token = link.searchParams.get('token') ?? new URLSearchParams(link.hash.slice(1)).get('token');
    await user.call('POST', '/auth/verify-address', { token });
    await user.call('POST', '/auth/sign-in', { email, password: PASSWORD });
    await user.call('POST', '/accounts', { name: 'Acme' });
    return user;
  }

  /** A request of the management API in the user's session. @throws when it is refused */
  async call<Answer = Record<string, unknown>>(method: string, path: string, body?: object): Promise<Answer> {
    const { origin } = this.places;
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { origin, cookie: this.#cookie, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const set = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
    if (set.length > 0) this.#cookie = set.filter((pair) => !pair.endsWith('=')).join('; ');
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Answer;
  }

  /** Gives a browser the session. */
  async signIn(context: BrowserContext): Promise<void> {
    const cookies = this.#cookie.split('; ').map((pair) => {
      const at = pair.indexOf('=');
      return { name: pair.slice(0, at), value: pair.slice(at + 1), url: this.places.origin };
    });
    await context.addCookies(cookies);
  }
}

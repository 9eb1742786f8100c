import type { Stack } from '@dormouse/stack';
import { Pool } from 'undici';

const CONNECTIONS = 32;
const PAGE = 100;

/** A request as the simulated Stripe has logged it. */
export interface StripeRequest {
  number: number;
  /** Epoch milliseconds. */
  atMs: number;
  method: string;
  path: string;
  parameters: Record<string, unknown>;
}

/** The simulated Stripe of a stack: its API, and what people do on its pages and to it. */
export class SimulatedStripe {
  readonly #pool: Pool;
  readonly #secretKey: string;

  constructor({ urls, installation }: Stack) {
    if (urls.stripe === undefined) throw new Error('the stack has no simulated Stripe');
    this.#pool = new Pool(urls.stripe, { connections: CONNECTIONS });
    this.#secretKey = installation.facts.secrets.simulatedStripe.secretKey;
  }

  /** A call of Stripe's API. @param parameters names as in forms, such as `items[0][price]` */
  api<T>(method: 'GET' | 'POST' | 'DELETE', path: string, parameters: Record<string, string> = {}): Promise<T> {
    const form = new URLSearchParams(parameters).toString();
    const inQuery = method === 'GET' && form !== '';
    return this.#request<T>(method, inQuery ? `${path}?${form}` : path, {
      type: 'application/x-www-form-urlencoded',
      ...(method === 'POST' && { body: form }),
    });
  }

  /** What the API lists, newest first, read in pages. */
  async *all<T extends { id: string }>(path: string): AsyncGenerator<T> {
    let after: string | undefined;
    do {
      const place: Record<string, string> = after === undefined ? {} : { starting_after: after };
      const parameters = { limit: String(PAGE), ...place };
      const page: { data: T[]; has_more: boolean } = await this.api('GET', path, parameters);
      yield* page.data;
      after = page.has_more ? page.data.at(-1)?.id : undefined;
    } while (after !== undefined);
  }

  /** What somebody does on the page of Checkout at this address. */
  async payCheckout(pageUrl: string): Promise<void> {
    const session = new URL(pageUrl).pathname.split('/').at(-1) ?? '';
    await this.#control('POST', `/checkout/${session}/pay`, { card: 'pm_card_visa' });
  }

  async setWebhooks(mode: 'send' | 'lose'): Promise<void> {
    await this.#control('PATCH', '/webhooks', { mode });
  }

  /** Logged requests with a number above this one. */
  async requestsAfter(number: number): Promise<StripeRequest[]> {
    return (await this.#control<{ requests: StripeRequest[] }>('GET', `/requests?after=${number}`)).requests;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #control<T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<T> {
    return this.#request<T>(method, `/_simulator${path}`, {
      type: 'application/json',
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async #request<T>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    { type, body }: { type: string; body?: string },
  ): Promise<T> {
    const response = await this.#pool.request({
      method,
      path,
      headers: {
        authorization: `Bearer ${this.#secretKey}`,
        ...(body !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 400) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
    return JSON.parse(text) as T;
  }
}

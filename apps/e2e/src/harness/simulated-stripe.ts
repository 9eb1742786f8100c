import type { Stack } from '@dormouse/stack';
import { eventually } from './eventually.js';

/** The simulated Stripe of a stack: its clock and settings, and what is stored there. */
export class SimulatedStripe {
  constructor(private readonly stack: Pick<Stack, 'urls' | 'installation'>) {}

  /** A request to its control: `/clock`, `/settings`, … */
  async control(method: string, path: string, body: object): Promise<void> {
    const response = await fetch(`${this.#url}/_simulator${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  /** Waits until the newest subscription is paid with its customer's card: the portal changes that of the customer alone. */
  async untilDefaultCard(): Promise<void> {
    await eventually(
      async () => {
        const { secretKey } = this.stack.installation.facts.secrets.simulatedStripe;
        const path = '/v1/subscriptions?limit=1&expand[]=data.customer';
        const response = await fetch(this.#url + path, { headers: { authorization: `Bearer ${secretKey}` } });
        const { data } = (await response.json()) as {
          data: {
            default_payment_method: string;
            customer: { invoice_settings: { default_payment_method: unknown } };
          }[];
        };
        return data[0]?.default_payment_method === data[0]?.customer.invoice_settings.default_payment_method;
      },
      { what: 'the subscription is paid with the card of the portal' },
    );
  }

  get #url(): string {
    return this.stack.urls.stripe ?? '';
  }
}

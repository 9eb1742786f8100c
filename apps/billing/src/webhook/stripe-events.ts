import { defineStatement, transaction, type GlobalDatabase } from '@dormouse/database';
import { accountOfCustomer } from '../customers/billing-accounts.js';
import { requestTurn } from '../customers/turns.js';

const ADD = defineStatement({
  name: 'add-stripe-event',
  scope: 'global',
  text: `INSERT INTO stripe_events (id, type, customer_id, created, handled_at) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (id) DO NOTHING`,
  parameters: ['text', 'text', 'text?', 'timestamptz'],
});

const DELETE_OLD = defineStatement({
  name: 'delete-old-stripe-events',
  scope: 'global',
  text: `DELETE FROM stripe_events WHERE received_at < now() - interval '30 days'`,
  parameters: [],
});

/** What is kept of an event: that it came, and whose facts are to be read again. */
export interface ReceivedEvent {
  id: string;
  type: string;
  customerId: string | null;
  created: Date;
}

/** Events that were received, by id. */
export class StripeEvents {
  constructor(private readonly database: Pick<GlobalDatabase, 'pool'>) {}

  /**
   * Stores an event, together with the request for a turn of its account.
   * @returns the account whose turn was requested; undefined for an event that came before, or of nobody that we know
   */
  receive({ id, type, customerId, created }: ReceivedEvent): Promise<string | undefined> {
    return transaction(this.database, async (connection) => {
      if ((await ADD.count(connection, id, type, customerId, created)) === 0 || customerId === null) return undefined;
      const accountId = await accountOfCustomer(connection, customerId);
      if (accountId !== undefined) await requestTurn(connection, accountId);
      return accountId;
    });
  }

  /** Deletes events that came more than 30 days ago: Stripe repeats none for so long. */
  async deleteOld(): Promise<number> {
    return DELETE_OLD.count(this.database.pool);
  }
}

import { openLog } from '@dormouse/bootstrap';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { dueTurns, requestTurns } from './customers/turns.js';
import { NumberPull } from './numbers/number-pull.js';
import type { BillingRules } from './standing/standing.js';
import { Recompute } from './standings/recompute.js';
import { StandingOutbox } from './standings/standing-outbox.js';
import type { StripeSettings } from './stripe/stripe-settings.js';
import { StripeSide } from './stripe/stripe-side.js';
import type { TestRegion } from './test-billing.js';
import { mortal, type Life } from './test-mortal.js';
import type { RunningStripeSide } from './test-stripe-side.js';

export interface WholeBillingTerms {
  running: RunningStripeSide;
  regions: readonly TestRegion[];
  rules: BillingRules;
  nowMs: () => number;
  /** With which it reaches Stripe; absent: those of the running side. */
  settings?: StripeSettings;
}

/** All that billing does by itself, in one go and in order, from the numbers of the regions to their standings there; no job runs. */
export class WholeBilling {
  /** The regions' databases as billing reaches them. */
  readonly #reached: readonly RegionalDatabase[];

  constructor(private readonly terms: WholeBillingTerms) {
    this.#reached = terms.regions.map(({ proxy }) =>
      openRegionalDatabase({ url: proxy.url, applicationName: 'billing-spec' }),
    );
  }

  /** @throws when the life ends on the way */
  async live(life: Life): Promise<void> {
    const { running, regions, rules, nowMs, settings } = this.terms;
    const database = mortal(running.database, life);
    const log = openLog({ name: 'whole-billing', level: 'silent' });
    const links = regions.map(({ region }, index) => {
      const reached = this.#reached[index];
      if (!reached) throw new Error(`there is no database of ${region}`);
      const regional = mortal(reached, life);
      return { region, database: regional };
    });
    const side = new StripeSide({
      ...{ settings: settings ?? running.settings, database, rules, nowMs, log },
      kick: () => undefined,
      onFacts: () => undefined,
    });
    const pull = new NumberPull({ database, onChange: requestTurns });
    for (const link of links) await pull.pull(link).catch(unlessDead(life));
    const recompute = new Recompute({ database, rules, nowMs });
    const compute = async (): Promise<void> => {
      for (const accountId of await recompute.due()) await recompute.account(accountId);
    };
    await compute();
    for (const accountId of await dueTurns(database.pool, 1_000)) await side.turns.run(accountId);
    await compute();
    const outbox = new StandingOutbox(database);
    for (const link of links) await outbox.deliver(link.region, link.database).catch(unlessDead(life));
  }

  async close(): Promise<void> {
    await Promise.all(this.#reached.map((database) => database.close()));
  }
}

/** A region that is away ends nothing but what is done in it. */
function unlessDead(life: Life): (error: unknown) => undefined {
  return (error) => {
    if (life.isOver) throw error;
    return undefined;
  };
}

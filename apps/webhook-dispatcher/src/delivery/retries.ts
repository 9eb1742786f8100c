import type { Claim, HeldEvent, HeldEvents, PendingEvent } from '@dormouse/event-outbox/delivery';
import type { Attempted, Attempts } from './attempts.js';
import type { WhileLeased } from './while-leased.js';
import { isTooOld, isWanted, type Webhook } from './webhooks.js';

/** Made in one go at most. */
const AT_ONCE = 32;

/** Tries held events of a webhook again, one at a time. */
export class Retries {
  constructor(private readonly parts: { attempts: Attempts; held: HeldEvents; leased: WhileLeased }) {}

  /**
   * Tries what is due, until the webhook's settings are to be read again.
   * @returns the attempt that ended it, if one did
   */
  async run(
    claim: Claim,
    webhook: Webhook,
    turn: { shouldYield(): boolean; isOutdated(): boolean },
  ): Promise<Attempted | undefined> {
    for (let count = 0; count < AT_ONCE; count += 1) {
      if (count > 0 && turn.isOutdated()) return undefined;
      const again = await this.#next(claim, webhook, turn, () => this.parts.held.due(claim));
      if (!again) return undefined;
      const attempted = await this.parts.attempts.ofHeld(claim, webhook, again);
      const goesOn = attempted.kind === 'accepted' || (attempted.kind === 'failed' && !attempted.pauses);
      if (!goesOn) return attempted;
    }
    return undefined;
  }

  /** Tries the one that shows most about the receiver. */
  async trial(
    claim: Claim,
    webhook: Webhook,
    turn: { shouldYield(): boolean },
  ): Promise<{ attempted: Attempted; seq: bigint } | undefined> {
    const again = await this.#next(claim, webhook, turn, () => this.parts.held.forTrial(claim));
    return again && { attempted: await this.parts.attempts.ofHeld(claim, webhook, again), seq: again.seq };
  }

  /** The next one that is still to be posted; those that are not leave. */
  async #next(
    claim: Claim,
    webhook: Webhook,
    turn: { shouldYield(): boolean },
    find: () => Promise<HeldEvent | undefined>,
  ): Promise<(HeldEvent & { event: PendingEvent }) | undefined> {
    const { held, leased } = this.parts;
    while (claim.hasHeld && !turn.shouldYield()) {
      const found = await leased.read(claim, find);
      if (!found) return undefined;
      const { event, webhookId: onlyFor } = found;
      if (event && isWanted(event, webhook, { onlyFor, webhookId: claim.webhookId }) && !isTooOld(event, webhook, 0))
        return { ...found, event };
      if (!(await leased.write(claim, () => held.leave(claim, found)))) return undefined;
    }
    return undefined;
  }
}

// What can be made to go wrong between a client and this API. Rules are kept with the state; requests that are held are
// let go by `release`, and by the end of the process.
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultRule } from '../objects/records.js';
import { newId } from '../wire/ids.js';
import { StripeFault } from '../wire/stripe-fault.js';
import type { World } from '../world/world.js';

/** A request as rules look at it. */
export interface FacedRequest {
  method: string;
  path: string;
}

/** What a request meets. */
export interface Meeting {
  /** Refused before anything is looked at. */
  refusal: StripeFault | undefined;
  /** Refused under its idempotency key: the same answer comes again. */
  keptRefusal: StripeFault | undefined;
  /** How long it waits while it is under way. */
  delayMs: number;
  isHeld: boolean;
  /** It is done, and its answer never arrives. */
  dropsAnswer: boolean;
  kinds: FaultRule['kind'][];
}

export class Faults {
  private readonly held = new Set<() => void>();

  constructor(
    private readonly world: World,
    /** Numbers from 0 up to 1. */
    private readonly random: () => number,
  ) {}

  add(rule: Omit<FaultRule, 'id'>): FaultRule {
    const added = { ...rule, id: newId('fault') };
    this.world.changeState({ faults: [...this.world.state.faults, added] });
    return added;
  }

  clear(): void {
    this.world.changeState({ faults: [] });
    this.release();
  }

  /** Draws what this request meets; rules for a number of times are used up by it. */
  meet(request: FacedRequest): Meeting {
    const met = this.world.state.faults.filter((rule) => isFor(rule, request) && this.random() < 1 / rule.oneIn);
    if (met.some(({ times }) => times !== undefined)) this.useUp(met);
    const has = (kind: FaultRule['kind']) => met.find((rule) => rule.kind === kind);
    const limited = has('rate_limit');
    const failed = has('fail');
    const kept = has('fail_kept');
    return {
      refusal: limited ? rateLimited() : failed && broken(failed.status),
      keptRefusal: kept && broken(kept.status),
      delayMs: has('slow')?.delayMs ?? 0,
      isHeld: has('hold') !== undefined,
      dropsAnswer: has('drop_answer') !== undefined,
      kinds: met.map(({ kind }) => kind),
    };
  }

  /** Waits as long as the request is to wait. */
  async delay({ delayMs, isHeld }: Meeting): Promise<void> {
    if (delayMs > 0) await wait(delayMs, undefined, { ref: false });
    if (!isHeld) return;
    await new Promise<void>((resolve) => {
      this.held.add(resolve);
    });
  }

  /** Lets all held requests go on; returns how many there were. */
  release(): number {
    const waiting = [...this.held];
    this.held.clear();
    for (const go of waiting) go();
    return waiting.length;
  }

  get heldRequests(): number {
    return this.held.size;
  }

  private useUp(met: readonly FaultRule[]): void {
    const faults = this.world.state.faults.flatMap((rule) => {
      if (rule.times === undefined || !met.includes(rule)) return [rule];
      return rule.times > 1 ? [{ ...rule, times: rule.times - 1 }] : [];
    });
    this.world.changeState({ faults });
  }
}

function isFor(rule: FaultRule, { method, path }: FacedRequest): boolean {
  return (rule.method ?? method) === method && path.startsWith(rule.path ?? '');
}

function rateLimited(): StripeFault {
  return new StripeFault(
    429,
    'invalid_request_error',
    'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.',
    { code: 'rate_limit' },
  );
}

function broken(status: number): StripeFault {
  return new StripeFault(
    status,
    'api_error',
    'Sorry! There was an error while talking to Stripe. Please let us know at support@stripe.com if this problem persists.',
  );
}

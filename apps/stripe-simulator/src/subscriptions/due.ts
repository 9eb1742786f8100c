// What happens by itself, each thing at its own second: renewals, finalizations, retries, trials and pending updates that
// end, sessions that expire.
import type { AnyRecord, Subscription } from '../objects/records.js';
import type { World } from '../world/world.js';
import { cancelAsArranged } from './cancelling.js';
import { subscriptionOf } from './changing.js';
import { collect, expirePendingUpdate } from './collection.js';
import { expireIncomplete } from './ending.js';
import { expireResumption } from './pausing.js';
import { endTrial, renew } from './renewal.js';

const INCOMPLETE_SECONDS = 23 * 3600;
const RENEWED = ['active', 'past_due', 'unpaid'];

/** When something next happens to a record by itself; undefined when nothing will. */
export function dueAt(record: AnyRecord): number | undefined {
  if (record.object === 'subscription') return earliest(subscriptionMoments(record));
  if (record.object === 'invoice') {
    if (record.status === 'draft')
      return record.auto_advance ? (record.automatically_finalizes_at ?? undefined) : undefined;
    return record.status === 'open' ? (record.next_payment_attempt ?? undefined) : undefined;
  }
  if (record.object === 'checkout.session') return record.status === 'open' ? record.expires_at : undefined;
  return undefined;
}

function subscriptionMoments(subscription: Subscription): (number | null | undefined)[] {
  const { status } = subscription;
  if (status === 'incomplete') return [subscription.created + INCOMPLETE_SECONDS];
  const common = [subscription.pendingUpdate?.expires_at, subscription.resumption?.expiresAt];
  if (status === 'trialing') return [...common, subscription.trial_end, subscription.cancel_at];
  if (RENEWED.includes(status)) return [...common, subscription.items[0]?.current_period_end, subscription.cancel_at];
  return status === 'paused' ? common : [];
}

function earliest(moments: (number | null | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== null && moment !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * Runs everything that is due on a clock by then, in order of time, each as a change of its own. Time stands at each
 * moment while what falls due then is done.
 */
export function runDue(world: World, clock: string | null, by: number): void {
  const due = world.schedule.of(clock);
  for (let entry = due.take(by); entry; entry = due.take(by)) {
    const { at, id } = entry;
    const record = world.store.find(id);
    if (!record || !('test_clock' in record) || record.test_clock !== clock || dueAt(record) !== at) continue;
    world.at(clock, at, () => world.store.transact(() => happen(world, record, at)));
  }
}

function happen(world: World, record: AnyRecord, at: number): void {
  if (record.object === 'invoice') collect(world, record.id, { isAutomatic: true, isPresent: false });
  else if (record.object === 'checkout.session')
    world.emit(
      'checkout.session.expired',
      world.store.checkoutSessions.change(record.id, { status: 'expired', url: null }),
    );
  else if (record.object === 'subscription') advance(world, record, at);
}

function advance(world: World, subscription: Subscription, at: number): void {
  const { id } = subscription;
  if (subscription.status === 'incomplete') {
    expireIncomplete(world, id);
    return;
  }
  if (subscription.pendingUpdate && subscription.pendingUpdate.expires_at <= at)
    expirePendingUpdate(world, subscription);
  if (subscription.resumption && subscription.resumption.expiresAt <= at) expireResumption(world, subscription);
  const present = subscriptionOf(world, id);
  if (present.cancel_at !== null && present.cancel_at <= at && present.status !== 'paused')
    cancelAsArranged(world, present);
  else if (present.status === 'trialing' && (present.trial_end ?? Infinity) <= at) endTrial(world, present);
  else if (RENEWED.includes(present.status) && (present.items[0]?.current_period_end ?? Infinity) <= at)
    renew(world, present, at);
}

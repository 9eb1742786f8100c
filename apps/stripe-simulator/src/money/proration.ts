// Amounts are whole cents, moments whole seconds since 1970: nothing here rounds more than once.

/** What was billed for one item, and for which stretch of time: the measure of what a later change may credit. */
export interface Billed {
  quantity: number;
  /** Cents. */
  amount: number;
  /** Seconds since 1970; the end is not included. */
  start: number;
  end: number;
}

/** A share of an amount, rounded to the cent, half a cent away from zero. */
export function share(amount: number, part: number, whole: number): number {
  if (whole <= 0) return 0;
  const exact = BigInt(amount) * BigInt(part);
  const [size, sign] = exact < 0n ? [-exact, -1] : [exact, 1];
  const doubled = size * 2n + BigInt(whole);
  return Number(doubled / (2n * BigInt(whole))) * sign;
}

/** A change of quantity and what it costs from a moment on. */
export interface Proration {
  /** How many units are credited: never more than were billed. */
  creditQuantity: number;
  /** Cents, zero or less. */
  credit: number;
  /** Cents, zero or more. */
  debit: number;
}

/**
 * Prices a change of quantity at one second of a period. Unused time is credited from what was billed, not from what the
 * price would be: a quantity that was raised without a charge is not paid back when it is lowered.
 */
export function prorate(change: {
  unitAmount: number;
  from: number;
  to: number;
  billed: Billed | undefined;
  period: { start: number; end: number };
  at: number;
}): Proration {
  const { unitAmount, from, to, billed, period } = change;
  const at = Math.min(Math.max(change.at, period.start), period.end);
  const debit = share(unitAmount * to, period.end - at, period.end - period.start);
  if (!billed || billed.quantity === 0) return { creditQuantity: 0, credit: 0, debit };
  const creditQuantity = Math.min(from, billed.quantity);
  const left = Math.max(0, billed.end - Math.max(at, billed.start));
  const credit = share(-billed.amount * creditQuantity, left, (billed.end - billed.start) * billed.quantity);
  return { creditQuantity, credit: credit === 0 ? 0 : credit, debit };
}

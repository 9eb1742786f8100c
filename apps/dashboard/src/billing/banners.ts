import type { Answer } from '../api/operation-types.js';

export type BillingRecord = Answer<'getBilling'>;
type OpenPayment = BillingRecord['open'][number];

/** What those who pay must know before or while numbers are refused. */
export type Banner =
  /** A renewal was not paid, and nothing is refused until a time. */
  | { what: 'grace'; payment: OpenPayment; until: number; refused: number }
  /** It was not paid in time: so many numbers are refused. */
  | { what: 'unpaid'; payment: OpenPayment; refused: number }
  /** Further numbers wait for their payment. */
  | { what: 'waiting'; payment: OpenPayment }
  /** More numbers than there are places. */
  | { what: 'beyond'; refused: number }
  /** The subscription ends, and then so many numbers are refused. */
  | { what: 'ending'; at: number; refused: number };

/** Statuses of a subscription in which Stripe has given up: grace is over, whatever its end. */
const GIVEN_UP = ['unpaid', 'paused'];

/** The banners of an account, the most pressing first. */
export function bannersOf(
  { status, numbers, free, bought, open, cancel_at_period_end: isEnding, period_end: periodEnd }: BillingRecord,
  nowS: number,
): Banner[] {
  const counted = numbers ?? 0;
  const freePlaces = free ?? counted;
  const further = Math.max(0, counted - freePlaces);
  const covered = Math.min(further, bought);
  const renewal = open.filter(({ kind }) => kind === 'renewal').sort((a, b) => (a.until ?? 0) - (b.until ?? 0))[0];
  const waiting = open.find(({ kind }) => kind === 'numbers');
  const beyond = further - covered;
  return [
    ...(renewal ? [renewalBanner(renewal, covered, GIVEN_UP.includes(status ?? '') ? Infinity : nowS)] : []),
    ...(waiting ? [{ what: 'waiting', payment: waiting } as const] : []),
    ...(beyond > 0 ? [{ what: 'beyond', refused: beyond } as const] : []),
    ...(isEnding && periodEnd !== null && covered > 0
      ? [{ what: 'ending', at: periodEnd, refused: covered } as const]
      : []),
  ];
}

function renewalBanner(payment: OpenPayment, refused: number, nowS: number): Banner {
  const until = payment.until ?? nowS;
  return until > nowS ? { what: 'grace', payment, until, refused } : { what: 'unpaid', payment, refused };
}

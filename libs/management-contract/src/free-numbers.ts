import { plainText } from '@dormouse/gateway-contract';
import { z } from 'zod';

const MOST_NUMBERS = 1_000_000;
/** The end of the year 9999. */
const LAST_EPOCH_S = 253_402_300_799;

/** Body of PUT /fleet/accounts/{account}/free-numbers. */
export const freeNumbersBody = z.object({
  /** How many numbers are free beside those of every account. */
  numbers: z
    .int(`must be a whole number from 1 to ${MOST_NUMBERS}`)
    .min(1, 'must be at least 1; DELETE ends what was given')
    .max(MOST_NUMBERS, `must be at most ${MOST_NUMBERS}`),
  /** For the audit log, and for those who look later. */
  reason: plainText.min(1, 'must say why').max(500, 'must have at most 500 characters'),
  /** Epoch seconds; absent or null: they have no end. */
  ends_at: z
    .int('must be epoch seconds')
    .min(1, 'must be epoch seconds')
    .max(LAST_EPOCH_S, 'must be epoch seconds')
    .nullish(),
});
export type FreeNumbersBody = z.output<typeof freeNumbersBody>;

/** Answer of everything about the free numbers of an account. */
export const freeNumbers = z.object({
  /** Free numbers of the account now, those of every account included. */
  free: z.int(),
  /** What operators gave, newest first, with what has ended. */
  given: z.array(
    z.object({
      id: z.string(),
      numbers: z.int(),
      reason: z.string(),
      /** Name of the operator. */
      granted_by: z.string(),
      /** Epoch seconds, as the end. */
      created_at: z.int(),
      ends_at: z.int().nullable(),
      in_effect: z.boolean(),
    }),
  ),
});
export type FreeNumbers = z.output<typeof freeNumbers>;

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
  reason: plainText
    .min(1, 'must have a reason')
    .max(500, 'must have at most 500 characters')
    .describe('For the audit log, and for those who look later.'),
  ends_at: z
    .int('must be epoch seconds')
    .min(1, 'must be epoch seconds')
    .max(LAST_EPOCH_S, 'must be epoch seconds')
    .nullish()
    .describe('Epoch seconds; absent or null: they have no end.'),
});
export type FreeNumbersBody = z.output<typeof freeNumbersBody>;

/** Answer of everything about the free numbers of an account. */
export const freeNumbers = z.object({
  free: z.int().describe('Free numbers of the account now, those of every account included.'),
  given: z.array(
    z.object({
      id: z.string().describe('What operators gave, newest first, with what has ended.'),
      numbers: z.int(),
      reason: z.string(),
      granted_by: z.string().describe('Name of the operator.'),
      created_at: z.int().describe('Epoch seconds, as the end.'),
      ends_at: z.int().nullable(),
      in_effect: z.boolean(),
    }),
  ),
});
export type FreeNumbers = z.output<typeof freeNumbers>;

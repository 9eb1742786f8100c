import { z } from 'zod';

/** A whole number in a query, as digits. */
export const wholeNumber = (low: number, high: number, standard: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= low && value <= high, `must be between ${low} and ${high}`)
    .default(standard);

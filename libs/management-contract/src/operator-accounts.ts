import { plainText } from '@dormouse/gateway-contract';
import { z } from 'zod';
import { wholeNumber } from './fields.js';
import type { Operation } from './operation.js';

/** Query of GET /api/v1/operators/accounts. */
export const operatorAccountsQuery = z.object({
  count: wholeNumber(1, 100, 25),
  search: plainText
    .trim()
    .max(100, 'must have at most 100 characters')
    .optional()
    .describe('Part of the name, or of the address of an owner, in upper or lower case; or the id.'),
  cursor: plainText.max(100, 'must be the next of another page').optional().describe('`next` of the page before.'),
});
export type OperatorAccountsQuery = z.output<typeof operatorAccountsQuery>;

/** An account as operators see it. */
export const operatorAccount = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.int().describe('Epoch seconds.'),
  ended_at: z.int().optional().describe('When it was ended, in epoch seconds.'),
  owners: z.array(z.object({ name: z.string(), email: z.string() })),
  channels: z.int(),
  billing: z
    .object({
      plan: z.enum(['off', 'free', 'paid']),
      status: z.string().nullable().describe("Stripe's word for the subscription; null: there is none."),
      numbers: z.int().nullable().describe('Numbers that count; null: billing is off.'),
      free: z.int().nullable(),
      bought: z.int(),
      open: z.int().describe('Payments that are open.'),
    })
    .optional()
    .describe('Absent while billing does not answer.'),
});
export type OperatorAccount = z.output<typeof operatorAccount>;

/** Answer of GET /api/v1/operators/accounts, the newest first. */
export const operatorAccountList = z.object({
  accounts: z.array(operatorAccount),
  next: z.string().optional().describe('Cursor of the next page; absent: this is the last.'),
});
export type OperatorAccountList = z.output<typeof operatorAccountList>;

/** Accounts for operators. */
export const OPERATOR_ACCOUNT_OPERATIONS = {
  listOperatorAccounts: {
    method: 'get',
    path: '/operators/accounts',
    summary: 'List accounts with owners, channels and what they pay, newest first; or those that a search finds',
    access: { for: 'operators' },
    query: operatorAccountsQuery,
    status: 200,
    answer: operatorAccountList,
    failures: [],
  },
  getOperatorAccount: {
    method: 'get',
    path: '/operators/accounts/{id}',
    summary: 'Get an account with owners, channels and what it pays',
    access: { for: 'operators' },
    status: 200,
    answer: operatorAccount,
    failures: [404],
  },
} as const satisfies Record<string, Operation>;

import { child, node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** The query that clients make after a refused send (Baileys 7.0.0-rc14, Types/Mex.js): nobody is restricted here. */
const REACHOUT_TIMELOCK = '23983697327930364';
const NOT_RESTRICTED = { data: { xwa2_fetch_account_reachout_timelock: { is_active: false } } };
const NOT_SIMULATED = {
  data: null,
  errors: [
    {
      message: 'This query is not simulated.',
      extensions: { error_code: 501, is_retryable: false, severity: 'CRITICAL' },
    },
  ],
};

/** Queries in GraphQL, by number. Refusals are errors in the answer, as GraphQL has them. */
export const mex: IqHandler = (_context, iq) => {
  const isKnown = child(iq, 'query')?.attrs['query_id'] === REACHOUT_TIMELOCK;
  return [node('result', {}, Buffer.from(JSON.stringify(isKnown ? NOT_RESTRICTED : NOT_SIMULATED)))];
};

import { node } from '../wire/node.js';
import type { IqHandler } from './query-handler.js';

/** The one query that clients make after a refusal: nobody is restricted here. */
const NOT_RESTRICTED = JSON.stringify({
  data: { xwa2_fetch_account_reachout_timelock: { is_active: false } },
});

export const mex: IqHandler = () => [node('result', {}, Buffer.from(NOT_RESTRICTED))];

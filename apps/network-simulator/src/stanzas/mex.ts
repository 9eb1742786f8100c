import { z } from 'zod';
import { setAbout } from '../delivery/own-settings.js';
import { child, node, textOf } from '../wire/node.js';
import type { IqHandler, QueryContext } from './query-handler.js';

/** The query that clients make after a refused send (Baileys 7.0.0-rc14, Types/Mex.js): nobody is restricted here. */
const REACHOUT_TIMELOCK = '23983697327930364';
const NOT_RESTRICTED = { data: { xwa2_fetch_account_reachout_timelock: { is_active: false } } };
/** The text about oneself, as whatsmeow sets it (user.go: mutationUpdateTextStatus). */
const UPDATE_TEXT_STATUS = '9152604461510864';
const textStatus = z.object({ variables: z.object({ input: z.object({ text: z.string().nullable() }) }) });
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
export const mex: IqHandler = (context, iq) => {
  const query = child(iq, 'query');
  return [node('result', {}, Buffer.from(JSON.stringify(answer(context, query?.attrs['query_id'], textOf(query)))))];
};

function answer({ network, device }: QueryContext, id: string | undefined, body = ''): object {
  if (id === REACHOUT_TIMELOCK) return NOT_RESTRICTED;
  const given = id === UPDATE_TEXT_STATUS ? textStatus.safeParse(json(body)) : undefined;
  if (!given?.success) return NOT_SIMULATED;
  setAbout(network, device.account, given.data.variables.input.text ?? '');
  return { data: {} };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * How long the caller of a request waits for its answer.
 *
 * Guarantees: a command that no worker has taken is not carried out once its caller has gone: its connection has ended, or, of a
 * request that another region's edge passed on, the time is over for which that edge waits. The way between two regions may lose
 * the end of a connection, and clocks of two regions differ: the time travels as what is left of it once the body has been sent, however
 * long that takes. A caller that makes the header up shortens its own time alone.
 */
import { whenGone } from '@dormouse/http-server';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** For how many more milliseconds the edge that passes a request on waits for the answer. */
export const ANSWER_WITHIN_HEADER = 'x-dormouse-answer-within-ms';

type PatientRequest = Pick<FastifyRequest, 'headers' | 'raw'>;

/** Aborted when nobody waits for the answer any more. */
export function whenGivenUp({ headers, raw }: PatientRequest, reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const givenUp = new AbortController();
  const waitsForMs = waitingTimeOf(headers);
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    if (waitsForMs !== undefined) timer = setTimeout(() => givenUp.abort(), waitsForMs).unref();
  };
  if (raw.complete) start();
  else raw.once('end', start);
  whenGone(reply.raw, (unanswered) => {
    raw.off('end', start);
    clearTimeout(timer);
    if (unanswered) givenUp.abort();
  });
  return givenUp.signal;
}

function waitingTimeOf(headers: PatientRequest['headers']): number | undefined {
  const given = headers[ANSWER_WITHIN_HEADER];
  return typeof given === 'string' && /^\d{1,6}$/.test(given) ? Number(given) : undefined;
}

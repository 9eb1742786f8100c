import { Boom } from '@hapi/boom';

/** The code with which the network refused a question; undefined for any other failure. */
export function refusedQuery(error: unknown): number | undefined {
  if (!(error instanceof Boom)) return undefined;
  const data: unknown = error.data;
  return typeof data === 'number' && data >= 400 ? data : undefined;
}

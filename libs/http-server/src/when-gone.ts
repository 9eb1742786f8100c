import type { ServerResponse } from 'node:http';

/**
 * Calls back when the connection of a response has ended, whether the response was complete or not; at once where it has ended
 * before, as it may while a token or a session is looked up.
 * @param then receives whether the caller went without the whole answer
 */
export function whenGone(response: ServerResponse, then: (unanswered: boolean) => void): void {
  const end = (): void => then(!response.writableEnded);
  if (response.closed) end();
  else response.once('close', end);
}

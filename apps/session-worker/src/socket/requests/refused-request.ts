/** What became of a request, by the error that the library rejects it with. */
import { Boom } from '@hapi/boom';
import { DisconnectReason } from '@whiskeysockets/baileys';

/** The code with which the network refused a request; undefined for any other failure. */
export function refusedRequest(error: unknown): number | undefined {
  if (!(error instanceof Boom)) return undefined;
  const data: unknown = error.data;
  return typeof data === 'number' && data >= 400 ? data : undefined;
}

/** Did the connection end before the network answered? */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Boom && CONNECTION_LOST.has(error.output.statusCode);
}

/** The library's own codes for a connection that is gone. */
const CONNECTION_LOST = new Set<number>([
  DisconnectReason.connectionClosed,
  DisconnectReason.connectionLost,
  DisconnectReason.connectionReplaced,
  DisconnectReason.restartRequired,
  DisconnectReason.unavailableService,
]);

import type { Socket } from 'node:net';
import { newRequestId } from '@dormouse/bootstrap';
import { errorAnswer, GatewayError, type Site } from '@dormouse/gateway-contract';

/**
 * Answers what never became a request (broken HTTP, headers too large, too slow): there is no reply object yet, so the
 * envelope is written on the socket.
 */
export function answerMalformedRequest(site: Site): (error: { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (!socket.writable) return void socket.destroy();
    const malformed = new GatewayError(400, { details: 'the request is not valid HTTP' });
    const { headers, body } = errorAnswer(malformed, site);
    const head = [
      'HTTP/1.1 400 Bad Request',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${newRequestId()}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}

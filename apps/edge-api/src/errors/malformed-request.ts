import type { Socket } from 'node:net';
import { newRequestId } from '@dormouse/bootstrap';
import { errorEnvelope, GatewayError } from '@dormouse/gateway-contract';
import type { Site } from './error-envelope.filter.js';

/**
 * Answers what never became a request (broken HTTP, headers too large, too slow): there is no reply object yet, so the
 * envelope is written on the socket.
 */
export function answerMalformedRequest(site: Site): (error: { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (!socket.writable) return void socket.destroy();
    const envelope = errorEnvelope(new GatewayError(400, { details: 'the request is not valid HTTP' }), site);
    const body = JSON.stringify(envelope);
    const head = [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${newRequestId()}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}

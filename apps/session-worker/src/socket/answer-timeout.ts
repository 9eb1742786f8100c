/**
 * Ends a socket that the network does not answer while it connects, as a lost connection.
 *
 * Why not the library's `connectTimeoutMs`: 7.0.0-rc14 puts it on every frame that is sent, too, and takes three stack traces
 * for each, some 40 µs (`promiseTimeout` in Utils/generics.js): a twentieth of what a send costs. Without it a connection that is made
 * and takes no more frames is found out by the keep-alive queries.
 */
import { Boom } from '@hapi/boom';
import { DisconnectReason, type WASocket } from '@whiskeysockets/baileys';

/** @param withinMs from now until the first frame of the network */
export function endUnlessAnswered(socket: Pick<WASocket, 'ws' | 'ev' | 'end'>, withinMs: number): void {
  const timer = setTimeout(() => {
    void socket.end(new Boom('the network did not answer', { statusCode: DisconnectReason.timedOut }));
  }, withinMs);
  const done = (): void => clearTimeout(timer);
  socket.ws.once('frame', done);
  socket.ev.on('connection.update', ({ connection }) => {
    if (connection === 'close') done();
  });
}

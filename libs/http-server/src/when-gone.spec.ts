import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { whenGone } from './when-gone.js';

/** A response on a connection of its own. */
function open() {
  const socket = new Socket();
  const response = new ServerResponse(new IncomingMessage(socket));
  response.assignSocket(socket);
  return { socket, response };
}

describe('the end of a connection', () => {
  it('is noticed when it comes, with or without an answer before it', async () => {
    for (const answered of [false, true]) {
      const { socket, response } = open();
      const gone = new Promise<boolean>((resolve) => whenGone(response, resolve));
      if (answered) response.end();
      socket.destroy();
      expect(await gone).toBe(!answered);
    }
  });

  it('is noticed at once when it came before', async () => {
    const { socket, response } = open();
    const ended = once(response, 'close');
    socket.destroy();
    await ended;
    const gone: boolean[] = [];
    whenGone(response, (unanswered) => gone.push(unanswered));
    expect(gone).toEqual([true]);
  });
});

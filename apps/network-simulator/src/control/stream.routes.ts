import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Phones } from '../phones/phones.js';
import { accountOf } from './lookup.js';
import { messageView } from './message-view.js';

const atPhone = z.object({ phone: z.string() });
const BEAT_MS = 15_000;

/**
 * What happens at a phone, as it happens: `message` (new or changed), `event`, and `devices` when one came or went. The page
 * lives on this.
 */
export function streamRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  app.get('/phones/:phone/stream', (request, reply) => {
    const phone = phones.of(accountOf(network, atPhone.parse(request.params).phone));
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'keep-alive' });
    const send = (name: string, data: unknown): void => {
      raw.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    send('ready', { phone: phone.account.phone });
    const stopMessages = phone.messages.watch((message) => send('message', messageView(network, message)));
    const stopEvents = phone.events.watch((event) => send('event', event));
    const stopDevices = network.connections.watch(phone.account.phone, () => send('devices', {}));
    const beat = setInterval(() => raw.write(': still here\n\n'), BEAT_MS);
    raw.on('close', () => {
      clearInterval(beat);
      stopMessages();
      stopEvents();
      stopDevices();
    });
  });
}

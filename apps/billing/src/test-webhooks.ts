import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_EVENTS } from './setup/setup.js';
import type { RunningStripeSide } from './test-stripe-side.js';
import { readSignedEvent } from './webhook/signed-event.js';

/** Receives webhooks of a simulated Stripe, as billing does, from now until it is closed. */
export async function receiveWebhooks({ stripe, side }: RunningStripeSide): Promise<{ close: () => void }> {
  const secrets: string[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const signature = request.headers['stripe-signature'];
      Promise.resolve()
        .then(() => readSignedEvent(stripe, { secrets, isTest: true }, Buffer.concat(chunks), signature))
        .then((event) => side.events.receive(event))
        .then(
          () => response.writeHead(200).end(),
          () => response.writeHead(500).end(),
        );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stripe/webhook`;
  const endpoint = await stripe.webhookEndpoints.create({ url, enabled_events: [...WEBHOOK_EVENTS] });
  secrets.push(endpoint.secret ?? '');
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

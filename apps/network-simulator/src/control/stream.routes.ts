import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Phones } from '../phones/phones.js';
import { accountOf } from './lookup.js';
import { messageView } from './message-view.js';

const atPhone = z.object({ phone: z.string() });
const BEAT_MS = 15_000;

/**
 * What happens, as it happens; the page lives on this. At a phone: `message` (new or changed), `event`, and `devices` when
 * one came or went. On the network: `phones` when one came or went, and `fault` when one began, struck or ended. Each
 * begins with `ready`.
 */
export function streamRoutes(app: FastifyInstance, phones: Phones): void {
  const { network } = phones;
  app.get('/stream', (_request, reply) =>
    openStream(reply, (send) => [
      network.accounts.watch(() => send('phones', {})),
      network.faults.watch((event) => send('fault', event)),
    ]),
  );
  app.get('/phones/:phone/stream', (request, reply) => {
    const phone = phones.of(accountOf(network, atPhone.parse(request.params).phone));
    openStream(reply, (send) => [
      phone.messages.watch((message) => send('message', messageView(network, message))),
      phone.events.watch((event) => send('event', event)),
      network.connections.watch(phone.account.phone, () => send('devices', {})),
    ]);
  });
}

type Send = (name: string, data: unknown) => void;

/** Answers with server-sent events until the caller leaves. */
function openStream(reply: FastifyReply, watch: (send: Send) => (() => void)[]): void {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'keep-alive' });
  const send: Send = (name, data) => void raw.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const stops = watch(send);
  send('ready', {});
  const beat = setInterval(() => raw.write(': still here\n\n'), BEAT_MS);
  raw.on('close', () => {
    clearInterval(beat);
    for (const stop of stops) stop();
  });
}

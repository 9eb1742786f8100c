/** The HTTP side: mails as JSON and on a page, and faults. Every error is `{"error": "a sentence"}`. */
import fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z, ZodError } from 'zod';
import { faultSchema, type Faults } from './faults.js';
import type { Mails } from './mails.js';
import { listPage, MAIL_POLICY, mailHtml, mailPage, PAGE_POLICY, PAGE_SCRIPT } from './page.js';
import type { ReceivedMail } from './received-mail.js';

const LONGEST_WAIT_MS = 120_000;
const MAX_BODY_BYTES = 64 * 1024;

const wanted = z.object({ to: z.string().min(1).optional(), after: z.coerce.number().int().min(0).optional() });
const waiting = wanted.extend({ timeoutMs: z.coerce.number().int().min(0).max(LONGEST_WAIT_MS).default(10_000) });
const one = z.object({ id: z.coerce.number().int().min(1) });

class NoSuchMail extends Error {}

/** A mail without its contents. */
function inList({ id, receivedAt, envelope, from, to, subject, messageId }: ReceivedMail): object {
  return { id, receivedAt, envelope, from, to, subject, messageId };
}

export interface RouteFacts {
  readonly mails: Mails;
  readonly faults: Faults;
  readonly log: Logger;
  readonly smtpUrl: string;
}

/** The HTTP server, complete but not listening. */
export function httpServer({ mails, faults, log, smtpUrl }: RouteFacts): FastifyInstance {
  const app = fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  const found = (params: unknown): ReceivedMail => {
    const { id } = one.parse(params);
    const mail = mails.get(id);
    if (!mail) throw new NoSuchMail(`there is no mail ${id}`);
    return mail;
  };
  app.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof NoSuchMail) return reply.status(404).send({ error: error.message });
    if (error instanceof ZodError) return reply.status(400).send({ error: sentenceOf(error) });
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status >= 500) log.error({ reason: String(error) }, 'a request failed');
    return reply.status(status).send({ error: error instanceof Error ? error.message : String(error) });
  });
  app.setNotFoundHandler(async (_request, reply) => reply.status(404).send({ error: 'there is no such path' }));

  app.get('/health', () => ({ ok: true }));
  app.get('/mails', ({ query }) => mails.list(wanted.parse(query)).map(inList));
  app.get('/mails/next', async ({ query }, reply) => {
    const { timeoutMs, ...which } = waiting.parse(query);
    const mail = await mails.next(which, timeoutMs);
    return mail ?? reply.status(404).send({ error: `no such mail came within ${timeoutMs} ms` });
  });
  app.get('/mails/:id', ({ params }) => found(params));
  app.get('/mails/:id/source', ({ params }, reply) =>
    reply.type('text/plain; charset=utf-8').send(found(params).source),
  );
  app.get('/mails/:id/html', ({ params }, reply) =>
    reply
      .headers(secured(MAIL_POLICY))
      .type('text/html; charset=utf-8')
      .send(mailHtml(found(params))),
  );
  app.delete('/mails', ({ query }) => ({ deleted: mails.remove(wanted.parse(query)) }));
  app.delete('/mails/:id', ({ params }) => {
    mails.delete(found(params).id);
    return { deleted: 1 };
  });

  app.get('/faults', () => faults.list);
  app.post('/faults', ({ body }, reply) => {
    faults.add(faultSchema.parse(body));
    return reply.status(201).send(faults.list);
  });
  app.delete('/faults', () => {
    faults.clear();
    return faults.list;
  });

  app.get('/', (_request, reply) =>
    reply.headers(secured(PAGE_POLICY)).type('text/html; charset=utf-8').send(listPage(mails.list(), smtpUrl)),
  );
  app.get('/view/:id', ({ params }, reply) =>
    reply
      .headers(secured(PAGE_POLICY))
      .type('text/html; charset=utf-8')
      .send(mailPage(found(params))),
  );
  app.get('/page.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(PAGE_SCRIPT));
  return app;
}

function secured(policy: string): Record<string, string> {
  return { 'content-security-policy': policy, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };
}

function sentenceOf({ issues: [issue] }: ZodError): string {
  const where = issue?.path.join('.') ?? '';
  return where === '' ? (issue?.message ?? 'bad request') : `${where}: ${issue?.message}`;
}

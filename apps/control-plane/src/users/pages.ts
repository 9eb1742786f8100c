/**
 * Pages that links in mails lead to, and that a sign-in through the identity provider ends at.
 *
 * Guarantees: opening a link changes nothing, so programs that open links in mails use none up; the button on its page does. A
 * token leaves the address bar at once: it is kept in a cookie for that path, and goes when it was used. Without the database
 * the page says that it could not be done, and the link goes on working.
 */
import type { Logger } from '@dormouse/bootstrap';
import { GatewayError, parseInput } from '@dormouse/gateway-contract';
import { parseCookies } from 'better-auth/cookies';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_HEADERS, renderPage, type Page, type PageField, type PageForm } from './page-html.js';
import { SIGN_IN_FAILED_PAGE, SIGNED_IN_PAGE } from './signing-in.js';
import { linkPages, type LinkPage, type LinkPageParts } from './link-pages.js';
import { visitorOf } from './visitor.js';

const TOKEN_COOKIE = 'dormouse.link';
const TOKEN_COOKIE_S = 3_600;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const MAX_FORM_BYTES = 16_384;

const SIGN_IN_FAILED: Page = {
  title: 'You could not be signed in',
  text: [
    'Your address must be verified by the identity provider; if you have a user here, it must be confirmed here too: open the link in our mail, or sign in with your password once.',
    'If you have no user here, ask an owner of an account for an invitation.',
  ],
};

/** Adds the pages to a server. */
export function servePages(fastify: FastifyInstance, parts: LinkPageParts, log: Logger): void {
  const isSecure = parts.signIn.settings?.publicUrl.startsWith('https:') === true;
  fastify.get(SIGNED_IN_PAGE, (_request, reply) =>
    send(reply, 200, { title: 'You are signed in', text: ['You can close this page.'] }),
  );
  fastify.get(SIGN_IN_FAILED_PAGE, (_request, reply) => send(reply, 400, SIGN_IN_FAILED));
  void fastify.register((scope, _options, done) => {
    scope.addContentTypeParser(FORM_TYPE, { parseAs: 'string', bodyLimit: MAX_FORM_BYTES }, (_request, body, parsed) =>
      parsed(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    );
    for (const page of linkPages(parts)) serveLinkPage(scope, page, isSecure, log);
    done();
  });
}

function serveLinkPage(fastify: FastifyInstance, page: LinkPage, isSecure: boolean, log: Logger): void {
  const { path, fields, button } = page;
  const formWith = (token: string): PageForm => ({ action: path, token, fields, button });
  const cookie = (token: string, seconds: number): string => {
    const secure = isSecure ? '; Secure' : '';
    return `${TOKEN_COOKIE}=${encodeURIComponent(token)}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  };
  fastify.get(path, (request, reply) => {
    const token = new URL(request.url, 'http://page').searchParams.get('token');
    if (token !== null) {
      return reply.headers(PAGE_HEADERS).header('set-cookie', cookie(token, TOKEN_COOKIE_S)).redirect(path, 303);
    }
    const kept = parseCookies(request.headers.cookie ?? '').get(TOKEN_COOKIE);
    if (kept === undefined) return send(reply, 400, { title: page.title, text: [LINK_MISSING] });
    return send(reply, 200, { title: page.title, text: page.text, form: formWith(kept) });
  });
  fastify.post(path, async (request, reply) => {
    const form = fieldsOf(request);
    try {
      await page.use(parseInput(page.schema, form), visitorOf(request), request.id);
    } catch (error) {
      const { status, fault, isFinal } = faultOf(error, fields);
      if (status === 502) log.error({ err: error, requestId: request.id }, 'a page could not do what it is for');
      return send(reply, status, {
        title: page.title,
        text: isFinal ? [] : page.text,
        fault,
        ...(isFinal ? {} : { form: formWith(form['token'] ?? '') }),
      });
    }
    void reply.header('set-cookie', cookie('', 0));
    return send(reply, 200, { title: page.doneTitle, text: page.doneText });
  });
}

const LINK_USELESS = 'This link was used, or is too old. Request a new one.';
const LINK_MISSING = 'Open again the link that you were given: this page needs it.';

function send(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(renderPage(page));
}

function fieldsOf({ body }: FastifyRequest): Record<string, string> {
  return typeof body === 'object' && body !== null ? { ...(body as Record<string, string>) } : {};
}

/** What the page shows for an error: faults of fields by their label; a link that does not work ends it. */
function faultOf(error: unknown, fields: readonly PageField[]): { status: number; fault: string; isFinal: boolean } {
  if (!(error instanceof GatewayError)) {
    return { status: 502, fault: 'This could not be done now. Try again in a minute.', isFinal: false };
  }
  if (error.status === 404) return { status: 404, fault: LINK_USELESS, isFinal: true };
  const [, name, reason] = /^(\w+): (.*)$/.exec(error.details ?? '') ?? [];
  if (name === 'token') {
    return { status: 400, fault: LINK_USELESS, isFinal: true };
  }
  const label = fields.find((field) => field.name === name)?.label;
  const fault = label === undefined ? (error.details ?? error.message) : `${label}: ${reason ?? ''}`;
  return { status: error.status, fault, isFinal: false };
}

/**
 * Who may say what: every request passes these checks, in this order, before its body is read. What refuses it is
 * the answer; nothing later is looked at.
 *
 *   /healthz exactly this path, GET, without a token; the other probes have a port of their own
 *   401      no token, not a token, a token of another region (or passed on to it), unknown or revoked
 *   501      no such endpoint, or one that is never implemented; names it
 *   402      the channel may not be billed (not for GET /health)
 *   429      too many requests of this channel
 *   413      a body that says it is too large (one that turns out to be: body/bodies.ts)
 *   -- the body is read --
 *   400      body/bodies.ts, body/valid.ts
 *   503, 404, 403, 502   the handlers, and the worker behind them
 *
 * PostgreSQL away: tokens cannot be looked up; 503, for nothing was said to the network. Redis away: see rate-limits.ts.
 */
import type { Probes } from '@dormouse/bootstrap';
import type { ChannelDirectory, ChannelRecord } from '@dormouse/channel-directory';
import { hashToken } from '@dormouse/channel-token';
import { GatewayError, type Region } from '@dormouse/gateway-contract';
import type { ByteBudget } from '@dormouse/media-files';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyLimitOf, type BodyLimits } from '../body/body-limits.js';
import { policyOf, type EndpointPolicy } from './endpoint.js';
import { homeOf, type RegionHosts } from './home-region.js';
import type { PassOn } from './pass-on.js';
import { presentedToken } from './presented-token.js';
import type { RateLimits } from './rate-limits.js';
import { requireGoodStanding } from './standing.js';

export interface AccessServices extends BodyLimits {
  region: Region;
  regionHosts: RegionHosts;
  directory: Pick<ChannelDirectory, 'byTokenHash'>;
  rateLimits: RateLimits;
  passOn: PassOn;
  probes: Probes;
  /** The memory that all bodies under way share. */
  bodyMemory: ByteBudget;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The channel that the token belongs to; set before any handler runs. */
    channel: ChannelRecord | null;
  }
}

/** For load balancers: it tells nothing but that somebody answers. */
const LIVENESS = '/healthz';

/** Puts the chain in front of every route, the unknown ones included. */
export function guardAccess(fastify: FastifyInstance, services: AccessServices): void {
  fastify.decorateRequest('channel', null);
  fastify.addHook('onRequest', async (request, reply) => {
    if (await answeredAsProbe(request, reply, services.probes)) return;
    const token = presentedToken(request);
    const elsewhere = homeOf(request, { home: token.region, here: services.region, hosts: services.regionHosts });
    if (elsewhere !== undefined) return services.passOn.answer(request, reply, elsewhere);
    const channel = await channelOf(token.text, services.directory);
    request.channel = channel;
    const policy = requireImplemented(request);
    if (policy.billed) requireGoodStanding(channel);
    await services.rateLimits.take(policy.rate, channel.id);
    requireSize(request, policy, services);
  });
}

async function answeredAsProbe(request: FastifyRequest, reply: FastifyReply, probes: Probes): Promise<boolean> {
  if (request.method !== 'GET' || !request.is404) return false;
  const path = request.originalUrl.split('?', 1)[0];
  const answer = path === LIVENESS ? await probes.answer(path) : undefined;
  if (answer === undefined) return false;
  await reply.code(answer.status).header('content-type', answer.contentType).send(answer.body);
  return true;
}

/** @throws {GatewayError} 401 for a token nobody has, 503 when nobody can be asked */
async function channelOf(token: string, directory: AccessServices['directory']): Promise<ChannelRecord> {
  const channel = await directory.byTokenHash(hashToken(token)).catch((error: unknown) => {
    const facts = { details: 'the channel directory is not reachable', retryAfterS: 3 };
    throw new GatewayError(503, facts, { cause: error });
  });
  if (!channel || channel.deleted) {
    throw new GatewayError(401, { details: 'the token is not known: it was revoked, or its channel is gone' });
  }
  return channel;
}

/**
 * @throws {GatewayError} 501 with the path as it was sent for an endpoint that is not listed, with its template for a
 * listed one
 */
function requireImplemented(request: FastifyRequest): EndpointPolicy {
  const policy = policyOf(request);
  if (policy?.implemented) return policy;
  const path = policy ? template(request) : (request.originalUrl.split('?', 1)[0] ?? '');
  throw new GatewayError(501, { message: `${request.method} ${path} is not implemented` });
}

function template(request: FastifyRequest): string {
  return (request.routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}');
}

/** @throws {GatewayError} 413 before a byte of the body was read */
function requireSize(request: FastifyRequest, policy: EndpointPolicy, limits: BodyLimits): void {
  const { maxBytes, refusal } = bodyLimitOf(request, policy, limits);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw refusal();
}

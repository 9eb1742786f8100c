/**
 * Access control: every request passes these checks, in this order, before its body is read. The first check that
 * fails is the answer; later ones are not made.
 *
 *   /healthz exactly this path, GET, without a token; the other probes have a port of their own
 *   401      no token, not a token, a token of another region (or passed on to it), unknown or revoked
 *   501      no such endpoint, or one that is never implemented; names it
 *   402      the channel may not be billed (not for GET /health)
 *   429      too many requests of this channel; or, in place of 401, too many of this address without a valid token
 *   413      a body announced as too large (a body that becomes too large while it is read: body/bodies.ts)
 *   -- the body is read --
 *   400      body/bodies.ts, valid() of http-server
 *   503, 404, 403, 502   the handlers, and the worker behind them
 *
 * PostgreSQL unreachable: tokens cannot be looked up; 503, since nothing was sent to the network. Redis unreachable: see
 * rate-limits.ts.
 */
import type { Probes } from '@dormouse/bootstrap';
import type { ChannelDirectory, ChannelRecord } from '@dormouse/channel-directory';
import { hashToken } from '@dormouse/channel-token';
import { GatewayError, type Region } from '@dormouse/gateway-contract';
import type { ByteBudget } from '@dormouse/media-files';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyLimitOf, type BodyLimits } from '../body/body-limits.js';
import type { BadTokens } from './bad-tokens.js';
import { policyOf, type EndpointPolicy } from './endpoint.js';
import { homeOf, type RegionHosts } from './home-region.js';
import type { RegionProxy } from './region-proxy.js';
import { presentedToken } from './presented-token.js';
import type { RateLimits } from './rate-limits.js';
import { requireGoodStanding } from './standing.js';

export interface AccessServices extends BodyLimits {
  region: Region;
  regionHosts: RegionHosts;
  directory: Pick<ChannelDirectory, 'byTokenHash'>;
  rateLimits: RateLimits;
  badTokens: BadTokens;
  regionProxy: RegionProxy;
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

/** For load balancers: the process is alive, nothing more. */
const LIVENESS = '/healthz';

/** Puts the chain in front of every route, the unknown ones included. */
export function guardAccess(fastify: FastifyInstance, services: AccessServices): void {
  fastify.decorateRequest('channel', null);
  fastify.addHook('onRequest', async (request, reply) => {
    if (await answeredAsProbe(request, reply, services.probes)) return;
    const channel = await refusalsCounted(request, services.badTokens, async () => {
      const token = presentedToken(request);
      const elsewhere = homeOf(request, { home: token.region, here: services.region, hosts: services.regionHosts });
      if (elsewhere === undefined) return channelOf(request, token.text, services);
      await forwardHome(request, reply, { token: token.text, origin: elsewhere }, services);
      return undefined;
    });
    if (!channel) return;
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

/**
 * Counts a 401 against the address that the request comes from.
 * @throws {GatewayError} 429 in its place when there were too many
 */
async function refusalsCounted<Result>(
  { ip }: FastifyRequest,
  badTokens: BadTokens,
  authenticate: () => Promise<Result>,
): Promise<Result> {
  try {
    return await authenticate();
  } catch (error) {
    throw error instanceof GatewayError && error.status === 401 ? await badTokens.count(ip, error) : error;
  }
}

/** The home region checks the token. A 401 of its own is counted here too, where the client's address is known. */
async function forwardHome(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, origin }: { token: string; origin: string },
  { badTokens, regionProxy }: Pick<AccessServices, 'badTokens' | 'regionProxy'>,
): Promise<void> {
  const hash = hashToken(token).toString('hex');
  badTokens.isKnownMiss(request.ip, hash);
  await regionProxy.forward(request, reply, origin);
  const { statusCode } = reply.raw;
  if (statusCode < 400) badTokens.noteGood(hash);
  if (statusCode === 401) await badTokens.count(request.ip, new GatewayError(401, { details: 'refused at home' }));
}

/** @throws {GatewayError} 401 for a token that no channel has, 503 when tokens cannot be looked up */
async function channelOf(
  { ip }: FastifyRequest,
  token: string,
  { directory, badTokens }: Pick<AccessServices, 'directory' | 'badTokens'>,
): Promise<ChannelRecord> {
  const hash = hashToken(token);
  const remembered = hash.toString('hex');
  const unknown = { details: 'the token is not known: it was revoked, or its channel is gone' };
  if (badTokens.isKnownMiss(ip, remembered)) throw new GatewayError(401, unknown);
  const channel = await directory.byTokenHash(hash).catch((error: unknown) => {
    const facts = { details: 'the channel directory is not reachable', retryAfterS: 3 };
    throw new GatewayError(503, facts, { cause: error });
  });
  if (!channel || channel.deleted) {
    badTokens.noteMiss(remembered);
    throw new GatewayError(401, unknown);
  }
  badTokens.noteGood(remembered);
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
  const details = elsewhere(request);
  throw new GatewayError(501, {
    message: `${request.method} ${path} is not implemented`,
    ...(details !== undefined && { details }),
  });
}

const SENDABLE_MEDIA = 'image|video|audio|voice|document|sticker';

/** The endpoint to use in place of one that clients of the compatible gateway call and this contract does not have. */
function elsewhere({ method, raw }: FastifyRequest): string | undefined {
  const path = (raw.url ?? '').split('?', 1)[0] ?? '';
  const [, type] = /^\/messages\/media(?:\/([^/]+))?$/i.exec(path) ?? [undefined, undefined];
  if (method !== 'POST' || !/^\/messages\/media(\/|$)/i.test(path)) return undefined;
  const kind = type?.toLowerCase() ?? '';
  const known = new RegExp(`^(?:${SENDABLE_MEDIA})$`).test(kind) ? kind : `{${SENDABLE_MEDIA.replaceAll('|', ', ')}}`;
  return `use POST /messages/${known} with to, media and caption in its body`;
}

function template(request: FastifyRequest): string {
  return (request.routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}');
}

/** @throws {GatewayError} 413 before a byte of the body was read */
function requireSize(request: FastifyRequest, policy: EndpointPolicy, limits: BodyLimits): void {
  const { maxBytes, refusal } = bodyLimitOf(request, policy, limits);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw refusal();
}

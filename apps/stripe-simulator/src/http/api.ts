// The API on the wire. One request is one transaction: what it changed, the events of it and the answer under its
// idempotency key are in the journal together before the answer leaves.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../api/operation.js';
import type { Faults, Meeting } from '../faults/faults.js';
import { expand } from '../wire/expansion.js';
import { parseForm, type FormNode } from '../wire/form.js';
import { newId } from '../wire/ids.js';
import { StripeFault } from '../wire/stripe-fault.js';
import { API_VERSION, type World } from '../world/world.js';
import { Idempotency, type KeyedRequest } from './idempotency.js';
import type { RequestLog } from './request-log.js';

/** What the API needs. */
export interface ApiParts {
  world: World;
  operations: readonly Operation[];
  faults: Faults;
  secretKey: string;
  log: RequestLog;
  /** Is called before each request (things that fell due meanwhile) and after it. */
  settle: () => void;
}

interface Reply {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

export function serveApi(app: FastifyInstance, parts: ApiParts): void {
  const idempotency = new Idempotency(parts.world);
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, body),
  );
  for (const operation of parts.operations)
    app.route({
      method: operation.method,
      url: operation.path,
      handler: (request, reply) => handle(parts, idempotency, operation, request, reply),
    });
  app.all('/v1/*', (request, reply) => {
    const requestId = newId('req');
    const [path] = request.url.split('?');
    const fault = authenticationFault(request, parts.secretKey) ?? unrecognized(request.method, path ?? '');
    parts.log.add({ ...trace(request), requestId, parameters: {}, status: fault.status, faults: [] });
    return answer(reply, requestId, faultReply(fault));
  });
}

function unrecognized(method: string, path: string): StripeFault {
  return new StripeFault(
    404,
    'invalid_request_error',
    `Unrecognized request URL (${method}: ${path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
  );
}

function trace(request: FastifyRequest) {
  const [path = ''] = request.url.split('?');
  const key = request.headers['idempotency-key'];
  return { method: request.method, path, idempotencyKey: typeof key === 'string' && key !== '' ? key : null };
}

async function handle(
  parts: ApiParts,
  idempotency: Idempotency,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const requestId = newId('req');
  const { method, path, idempotencyKey } = trace(request);
  const meeting = parts.faults.meet({ method, path });
  let parameters: FormNode = {};
  let result: Reply;
  try {
    const refusal = authenticationFault(request, parts.secretKey) ?? versionFault(request) ?? meeting.refusal;
    if (refusal) throw refusal;
    parameters = readForm(request);
    // Only what changes something is done once for a key.
    const keyed =
      idempotencyKey !== null && method === 'POST'
        ? { key: idempotencyKey, request: `${method} ${path}`, parameters }
        : undefined;
    result = await perform(parts, idempotency, operation, {
      requestId,
      keyed,
      parameters,
      meeting,
      ids: request.params as Record<string, string>,
    });
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error;
    result = faultReply(error);
  }
  parts.log.add({ method, path, idempotencyKey, requestId, parameters, status: result.status, faults: meeting.kinds });
  parts.settle();
  if (meeting.dropsAnswer) {
    reply.hijack();
    request.raw.socket.destroy();
    return reply;
  }
  return answer(reply, requestId, result);
}

interface Performed {
  requestId: string;
  keyed: KeyedRequest | undefined;
  parameters: FormNode;
  meeting: Meeting;
  ids: Record<string, string>;
}

async function perform(
  parts: ApiParts,
  idempotency: Idempotency,
  operation: Operation,
  request: Performed,
): Promise<Reply> {
  const { keyed, requestId, meeting } = request;
  const kept = keyed && idempotency.begin(keyed);
  if (kept)
    return {
      ...{ status: kept.status, body: kept.body },
      headers: { 'idempotent-replayed': 'true', 'original-request': kept.requestId },
    };
  try {
    await parts.faults.delay(meeting);
    parts.settle();
    const { expand: paths, run } = operation.prepare(parts.world, request.ids, request.parameters);
    const keep = ({ status, body }: Reply): void => {
      if (keyed) idempotency.keep(keyed, requestId, status, body);
    };
    return act(parts.world, { id: requestId, idempotency_key: keyed?.key ?? null }, keep, () => {
      if (meeting.keptRefusal) throw meeting.keptRefusal;
      const made = run();
      const object = 'record' in made ? parts.world.views.of(made.record) : made.object;
      return { status: 200, body: JSON.stringify(expand(object, paths, parts.world.views), null, 2) };
    });
  } finally {
    if (keyed) idempotency.finish(keyed.key);
  }
}

/** Does a request whole or not at all; the answer is kept with what it tells. An error undoes all, except one that keeps changes. */
function act(
  world: World,
  requestTrace: { id: string; idempotency_key: string | null },
  keep: (reply: Reply) => void,
  work: () => Reply,
): Reply {
  const done = (): Reply => {
    try {
      const reply = work();
      keep(reply);
      return reply;
    } catch (error) {
      if (!(error instanceof StripeFault) || !error.keepsChanges) throw error;
      const reply = faultReply(error);
      keep(reply);
      return reply;
    }
  };
  try {
    return world.transact(requestTrace, done);
  } catch (error) {
    if (!(error instanceof StripeFault)) throw error;
    const reply = faultReply(error);
    world.transact(requestTrace, () => keep(reply));
    return reply;
  }
}

function readForm(request: FastifyRequest): FormNode {
  const [, query = ''] = request.url.split(/\?(.*)/s);
  const body = typeof request.body === 'string' ? request.body : '';
  return parseForm(request.method === 'POST' ? body : [query, body].filter((part) => part !== '').join('&'));
}

function versionFault(request: FastifyRequest): StripeFault | undefined {
  const version = request.headers['stripe-version'];
  if (version === undefined || version === API_VERSION) return undefined;
  return new StripeFault(
    400,
    'invalid_request_error',
    `Invalid Stripe API version: ${String(version)}. This server answers ${API_VERSION} only.`,
  );
}

function authenticationFault(request: FastifyRequest, secretKey: string): StripeFault | undefined {
  const given = keyOf(request.headers.authorization);
  if (given === undefined)
    return new StripeFault(
      401,
      'invalid_request_error',
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  const [one, other] = [Buffer.from(given), Buffer.from(secretKey)];
  if (one.length === other.length && timingSafeEqual(one, other)) return undefined;
  return new StripeFault(
    401,
    'invalid_request_error',
    `Invalid API Key provided: ${given.slice(0, 8)}****${given.slice(-4)}`,
  );
}

function keyOf(authorization: string | undefined): string | undefined {
  const [scheme, value] = (authorization ?? '').split(' ');
  if (value === undefined || value === '') return undefined;
  if (scheme === 'Bearer') return value;
  return scheme === 'Basic' ? Buffer.from(value, 'base64').toString().split(':')[0] : undefined;
}

function faultReply(fault: StripeFault): Reply {
  const code = fault.details.code;
  return {
    ...{ status: fault.status, body: JSON.stringify(fault.body(), null, 2) },
    ...(code === 'idempotency_key_in_use' && { headers: { 'stripe-should-retry': 'true' } }),
  };
}

function answer(reply: FastifyReply, requestId: string, { status, body, headers }: Reply): FastifyReply {
  return reply
    .code(status)
    .headers({ 'request-id': requestId, 'stripe-version': API_VERSION, 'content-type': 'application/json', ...headers })
    .send(body);
}

import type { Probes } from '@dormouse/bootstrap';
import type { FastifyInstance } from 'fastify';

const LIVENESS = '/healthz';

/** Liveness for load balancers, without a key: it only shows that the process answers. The other probes have a port of their own. */
export function answerLiveness(fastify: FastifyInstance, probes: Probes): void {
  fastify.get(LIVENESS, async (_request, reply) => {
    const answer = await probes.answer(LIVENESS);
    return reply
      .code(answer?.status ?? 404)
      .header('content-type', answer?.contentType ?? 'text/plain')
      .send(answer?.body);
  });
}

import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import pTimeout from 'p-timeout';
import { collectDefaultMetrics, Registry } from 'prom-client';

/** Is one dependency usable now? A throw counts as no. */
export type ReadinessCheck = () => boolean | Promise<boolean>;

export interface ProbeAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** A check that hangs is a no. */
const CHECK_WITHIN_MS = 2_000;

/**
 * What a server reports about itself, without a token: GET /healthz (the process answers: always 200), GET /readyz (every
 * check passes and no drain has begun: 200, else 503, naming what is missing) and GET /metrics (Prometheus).
 */
export class Probes {
  readonly metrics = new Registry();
  readonly #checks: Readonly<Record<string, ReadinessCheck>>;
  #draining = false;

  constructor({ app, checks }: { app: string; checks: Readonly<Record<string, ReadinessCheck>> }) {
    this.#checks = checks;
    this.metrics.setDefaultLabels({ app });
    collectDefaultMetrics({ register: this.metrics });
  }

  /** From now on not ready: no new traffic, please. */
  startDraining(): void {
    this.#draining = true;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** The answer for exactly these three paths; undefined for any other. */
  async answer(path: string): Promise<ProbeAnswer | undefined> {
    switch (path) {
      case '/healthz':
        return json(200, { status: 'alive' });
      case '/readyz':
        return this.#readiness();
      case '/metrics':
        return { status: 200, contentType: this.metrics.contentType, body: await this.metrics.metrics() };
      default:
        return undefined;
    }
  }

  async #readiness(): Promise<ProbeAnswer> {
    if (this.#draining) return json(503, { status: 'draining' });
    const outcomes = await Promise.all(
      Object.entries(this.#checks).map(async ([name, check]) => ({ name, passed: await passes(check) })),
    );
    const missing = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
    return missing.length === 0 ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', missing });
  }
}

async function passes(check: ReadinessCheck): Promise<boolean> {
  try {
    return await pTimeout(Promise.resolve(check()), { milliseconds: CHECK_WITHIN_MS, fallback: () => false });
  } catch {
    return false;
  }
}

function json(status: number, body: object): ProbeAnswer {
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}

/** The HTTP server of the probes, on a port that customers do not reach. */
export async function openProbeServer(settings: {
  probes: Probes;
  port: number;
  host?: string;
}): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const answering = request.method === 'GET' ? settings.probes.answer(path) : Promise.resolve(undefined);
    answering.then(
      (answer) => {
        response.writeHead(answer?.status ?? 404, { 'content-type': answer?.contentType ?? 'text/plain' });
        response.end(answer?.body);
      },
      () => response.writeHead(500).end(),
    );
  });
  server.listen(settings.port, settings.host ?? '0.0.0.0');
  await once(server, 'listening');
  return { url: addressOf(server), close: () => closeServer(server) };
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return String(address);
  const host = address.address === '0.0.0.0' || address.address === '::' ? '127.0.0.1' : address.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

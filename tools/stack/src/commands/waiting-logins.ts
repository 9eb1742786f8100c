/**
 * Shows the simulated network which channels wait to be linked, so that its page can offer them: a code's secret is shown
 * to a camera only, and here we are the camera. Guarantee: only who knows the random address gets a code, and it listens on
 * this machine alone.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readLoginCode } from '../launch/login-code.js';

/** A channel that may wait. */
export interface OfferedChannel {
  name: string;
  edgeUrl: string;
  token: string;
}

export interface WaitingLogin {
  name: string;
  code: string;
}

export interface WaitingLogins {
  /** Answers GET with `[{"name": "…", "code": "…"}]`. */
  url: string;
  /** From now on this channel is listed whenever it is not linked. */
  offer(channel: OfferedChannel): void;
  /** From now on these are listed, too; of two under one name the first. A list that fails is left out. */
  offerAll(list: () => Promise<readonly WaitingLogin[]>): void;
}

const CODE_WITHIN_MS = 8_000;

async function isLinked({ edgeUrl, token }: OfferedChannel): Promise<boolean> {
  const response = await fetch(`${edgeUrl}/health?wakeup=false`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) return true;
  const { status } = (await response.json()) as { status: { text: string } };
  return !['not_linked', 'qr'].includes(status.text);
}

async function waiting(channel: OfferedChannel): Promise<readonly WaitingLogin[]> {
  try {
    if (await isLinked(channel)) return [];
    return [{ name: channel.name, code: await readLoginCode(channel.edgeUrl, channel.token, CODE_WITHIN_MS) }];
  } catch {
    return []; // linked meanwhile, or not ready to show a code: the next request will show
  }
}

/** Starts to listen on any free port. */
export async function serveWaitingLogins(): Promise<WaitingLogins> {
  const lists: (() => Promise<readonly WaitingLogin[]>)[] = [];
  const path = `/${randomUUID()}`;
  const answer = async (response: ServerResponse): Promise<void> => {
    const listed = (await Promise.all(lists.map((list) => list().catch(() => [])))).flat();
    const named = listed.filter(({ name }, at) => listed.findIndex((login) => login.name === name) === at);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(named));
  };
  const server = createServer((request, response) => {
    if (request.url === path) void answer(response);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    offer: (channel) => void lists.push(() => waiting(channel)),
    offerAll: (list) => void lists.push(list),
  };
}

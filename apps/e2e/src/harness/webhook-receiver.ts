import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookViolation } from './contract.js';
import { eventually } from './eventually.js';

/** A webhook call as it arrived. */
export interface WebhookCall {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown> & { event?: { type: string; event: string }; channel_id?: string };
}

/** What an endpoint can do besides answering a status: nothing, reset the connection, begin an answer that never ends. */
export type Misbehaviour = 'hang' | 'reset' | 'slow-body';

/**
 * A customer's webhook endpoint: records every call it accepted, answers what the test decides, and at the end reports
 * any call that the contract does not allow.
 */
export class WebhookReceiver {
  readonly calls: WebhookCall[] = [];
  /** Every call, accepted or not. */
  readonly attempts: WebhookCall[] = [];
  /** The status to answer with, or another way to behave; may look at the call. */
  answer: (call: WebhookCall) => number | Misbehaviour = () => 200;
  private readonly violations = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as WebhookCall['body'];
        const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
        receiver.attempts.push(call);
        const violation = webhookViolation(body);
        if (violation !== undefined) receiver.violations.add(violation);
        const answer = receiver.answer(call);
        if (answer === 'hang') return;
        if (answer === 'reset') return void request.socket.resetAndDestroy();
        if (answer === 'slow-body' || (answer >= 200 && answer < 300)) receiver.calls.push(call);
        if (answer !== 'slow-body') return void response.writeHead(answer).end();
        response.writeHead(200).write('and so on');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** The first accepted call that matches, once it is there. */
  waitFor(what: string, match: (call: WebhookCall) => boolean): Promise<WebhookCall> {
    return eventually(() => Promise.resolve(this.calls.find(match)), { what: `webhook call: ${what}` });
  }

  /** @throws when it received something that the contract does not allow */
  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    if (this.violations.size > 0) throw new Error([...this.violations].join('\n'));
  }
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One message event as it arrived. */
export interface Delivery {
  channelId: string;
  text: string;
  /** Id of the event: repeated calls carry the same. */
  eventId: string;
  messageId: string;
  sequence: number;
}

export interface Certificate {
  key: Buffer;
  cert: Buffer;
}

interface Call {
  channel_id: string;
  messages?: { id: string; from_me: boolean; text?: { body: string } }[];
}

/** A customer's webhook: accepts everything unless it is given another answer, and records texts from others in their order. */
export class Receiver {
  readonly deliveries: Delivery[] = [];
  /** The status of the answer to a text; absent: 200. */
  answers: ((text: string) => number) | undefined;

  private constructor(private readonly server: Server | TlsServer) {}

  /** @param certificate with which it speaks TLS */
  static async open(certificate?: Certificate): Promise<Receiver> {
    const server = certificate ? createTlsServer(certificate) : createServer();
    const receiver = new Receiver(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { 'webhook-id': eventId, 'webhook-sequence': sequence } = request.headers;
        const call = JSON.parse(Buffer.concat(chunks).toString()) as Call;
        response.writeHead(receiver.record(call, String(eventId), Number(sequence))).end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http${this.server instanceof TlsServer ? 's' : ''}://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  /** From the next connection on; those that are open end. */
  useCertificate(certificate: Certificate): void {
    if (!(this.server instanceof TlsServer)) throw new Error('the receiver was opened without a certificate');
    this.server.setSecureContext(certificate);
    this.server.closeAllConnections();
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private record({ channel_id: channelId, messages = [] }: Call, eventId: string, sequence: number): number {
    let status = 200;
    for (const { id: messageId, from_me: isOwn, text } of messages) {
      if (isOwn || text === undefined) continue;
      status = this.answers?.(text.body) ?? 200;
      if (status < 300) this.deliveries.push({ channelId, text: text.body, eventId, messageId, sequence });
    }
    return status;
  }
}

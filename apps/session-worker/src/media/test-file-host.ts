/** For specs: the network's file host as a plain HTTP server, and Baileys' own upload to it. */
import { createHash, randomBytes } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AgentOptions as HttpsAgentOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { SocketConfig, WAMediaUploadFunction } from '@whiskeysockets/baileys';
import { pino } from 'pino';
import { DEFAULT_CONNECTION_CONFIG, getWAUploadToServer } from '../socket/test-library.js';

/** An agent for plain HTTP where Baileys requires an https agent. */
class PlainAgent extends Agent {
  readonly protocol = 'https:';
  declare readonly options: HttpsAgentOptions;
}

/** The network's file host: stores uploads and serves them; `gone` and `refuse` make it answer with errors. */
export class FileHost {
  readonly files = new Map<string, Buffer>();
  gone: number | undefined;
  refuse = false;
  reads = 0;
  /** Writes the body of a response; specs replace it to damage files. */
  spoil: (bytes: Buffer, response: ServerResponse) => void = (bytes, response) => void response.end(bytes);

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST') {
      const bytes = await buffer(request);
      const expected = request.url?.split('/').pop()?.split('?')[0];
      const arrived = createHash('sha256').update(bytes).digest('base64url');
      if (this.refuse || arrived !== expected) return void response.writeHead(400).end('{}');
      const directPath = `/v/${randomBytes(8).toString('hex')}`;
      this.files.set(directPath, bytes);
      return void response.end(
        JSON.stringify({ url: `https://mmg.whatsapp.net${directPath}`, direct_path: directPath }),
      );
    }
    this.reads += 1;
    const bytes = this.files.get(request.url ?? '');
    if (this.gone !== undefined || !bytes) return void response.writeHead(this.gone ?? 404).end();
    response.setHeader('content-length', bytes.length);
    this.spoil(bytes, response);
  }

  reset(): void {
    this.files.clear();
    this.gone = undefined;
    this.refuse = false;
    this.reads = 0;
    this.spoil = (bytes, response) => void response.end(bytes);
  }
}

/** Starts listening; `address` is `host:port`. */
export async function listen(host: FileHost): Promise<{ address: string; close: () => void }> {
  const server = createServer((request, response) => void host.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The upload function of a socket whose network names this host. */
export function uploadTo(address: string): WAMediaUploadFunction {
  const config: SocketConfig = {
    ...DEFAULT_CONNECTION_CONFIG,
    auth: { creds: {} as never, keys: {} as never },
    logger: pino({ level: 'silent' }),
    customUploadHosts: [],
    fetchAgent: new PlainAgent(),
  };
  const hosts = [{ hostname: address, maxContentLengthBytes: 1 }];
  return getWAUploadToServer(config, () => Promise.resolve({ auth: 'a', ttl: 300, fetchDate: new Date(), hosts }));
}

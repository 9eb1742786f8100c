import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A customer's web server with files on it. */
export class FileServer {
  private constructor(private readonly server: Server) {}

  static async start(files: Readonly<Record<string, { type: string; bytes: Buffer }>>): Promise<FileServer> {
    const server = createServer((request, response) => {
      const file = files[request.url ?? ''];
      if (!file) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length }).end(file.bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FileServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PNG } from 'pngjs';

/** A picture as data: URI. */
export const png = (side = 8): string => {
  const picture = new PNG({ width: side, height: side });
  picture.data.fill(200);
  return `data:image/png;base64,${PNG.sync.write(picture).toString('base64')}`;
};

/** A site that links lead to: /empty has no title, all others have one. */
export class WebSite {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebSite> {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        request.url === '/empty'
          ? '<html><body>nothing</body></html>'
          : '<html><head><title>Plain</title><meta property="og:title" content="The &amp; Shop">' +
              '<meta name="description" content="All things"></head></html>',
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new WebSite(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/** Connections of one session through its channel's proxy: for its WebSocket, for uploads and downloads. */
import { Agent as TlsAgent, type RequestOptions } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Agent as FetchAgent, buildConnector } from 'undici';
import { dial, type Destination, type DialOptions } from './dial.js';

/** Timeout for a file host that sends nothing; the same as without a proxy. */
const FILE_IDLE_MS = 20_000;
const HANDSHAKE_WITHIN_MS = 10_000;

export class ProxyRoute {
  /** For downloads from the network. */
  readonly files: FetchAgent;
  /** For uploads to the network, which use `https.request`. */
  readonly uploads: TlsAgent;

  /** @param setting the setting `proxy`, not empty; with an invalid one every connection fails */
  constructor(
    private readonly setting: string,
    private readonly options: DialOptions,
  ) {
    this.uploads = new RouteAgent(this, { secure: true });
    this.files = new FetchAgent({
      connect: connectorOf(this),
      headersTimeout: FILE_IDLE_MS,
      bodyTimeout: FILE_IDLE_MS,
      pipelining: 1,
    });
  }

  /** The agent for the WebSocket at this address. */
  socketAgent(socketUrl: string): TlsAgent {
    return new URL(socketUrl).protocol === 'ws:' ? new RouteAgent(this, { secure: false }) : this.uploads;
  }

  /** @throws {ProxyFailed} */
  dial(destination: Destination): Promise<Socket> {
    return dial(this.setting, destination, this.options);
  }
}

/** Agent for requests of Node's own client; each request has its own connection. */
class RouteAgent extends TlsAgent {
  constructor(
    private readonly route: ProxyRoute,
    private readonly wire: { secure: boolean },
  ) {
    super({ keepAlive: false });
    // Node refuses an agent whose scheme is not the request's.
    if (!wire.secure) Object.assign(this, { protocol: 'http:', defaultPort: 80 });
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const { secure } = this.wire;
    const destination = { host: options.host ?? options.hostname ?? '', port: Number(options.port) };
    this.route.dial(destination).then(
      (socket) => callback?.(null, secure ? connectTls({ ...tlsOptions(options), socket }) : socket),
      (error: Error) => callback?.(error, new Socket()),
    );
  }
}

/** The options of a request for the TLS handshake with the server. */
function tlsOptions({ servername, ca, rejectUnauthorized }: RequestOptions) {
  return {
    ...(servername !== undefined && { servername }),
    ...(ca !== undefined && { ca }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  };
}

/** Connector for undici, which performs the TLS handshake itself. */
function connectorOf(route: ProxyRoute): buildConnector.connector {
  const secured = buildConnector({ allowH2: false, timeout: HANDSHAKE_WITHIN_MS });
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    const port = options.port === '' ? (secure ? 443 : 80) : Number(options.port);
    route.dial({ host: options.hostname.replace(/^\[|\]$/g, ''), port }).then(
      (socket) =>
        secure ? secured({ ...options, httpSocket: socket }, callback) : callback(null, socket.setNoDelay(true)),
      (error: Error) => callback(error, null),
    );
  };
}

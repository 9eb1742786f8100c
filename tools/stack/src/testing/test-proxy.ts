/** For specs: a SOCKS5 proxy on this machine (RFC 1928 with RFC 1929), that counts what came through it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const VERSION = 5;
const USER_AND_PASSWORD = 2;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const NOT_ALLOWED = 2;
const HOST_UNREACHABLE = 4;

export class TestProxy {
  /** `host:port` of each requested connection, as it was named. */
  readonly requested: string[] = [];
  /** How many clients had another password. */
  rejected = 0;
  /** True: no client gets an answer. */
  silent = false;
  /** True: no client is connected to its target. */
  closed = false;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(
    /** What names lead to, as this proxy looks them up. */
    private readonly names: Readonly<Record<string, string>>,
    readonly port: number,
  ) {
    this.server = createServer((socket) => {
      this.keep(socket);
      this.serve(socket).catch(() => socket.destroy());
    });
  }

  /** @param port of a proxy that was stopped; 0: any */
  static async start({ names = {}, port = 0 }: { names?: Record<string, string>; port?: number } = {}) {
    const made = new TestProxy(names, port);
    made.server.listen(port, '127.0.0.1');
    await once(made.server, 'listening');
    return Object.assign(made, { port: (made.server.address() as AddressInfo).port });
  }

  /** The setting that leads here; `socks5h`, so that names are looked up here. */
  setting({ password = 'secret', scheme = 'socks5h', host = '127.0.0.1' } = {}): string {
    return `${scheme}://user:${password}@${host}:${this.port}`;
  }

  /** Connections that lead through it now. */
  get open(): number {
    return this.sockets.size;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.sockets.delete(socket));
  }

  private async serve(socket: Socket): Promise<void> {
    if (this.silent) return;
    const [, methods = 0] = await read(socket, 2);
    if (![...(await read(socket, methods))].includes(USER_AND_PASSWORD))
      return void socket.end(Buffer.of(VERSION, 255));
    socket.write(Buffer.of(VERSION, USER_AND_PASSWORD));
    const [, userLength = 0] = await read(socket, 2);
    const user = (await read(socket, userLength)).toString();
    const [passwordLength = 0] = await read(socket, 1);
    const password = (await read(socket, passwordLength)).toString();
    if (user !== 'user' || password !== 'secret') {
      this.rejected += 1;
      return void socket.end(Buffer.of(1, 1));
    }
    socket.write(Buffer.of(1, 0));
    const [, command, , kind] = await read(socket, 4);
    const host = await hostOf(socket, kind);
    const port = (await read(socket, 2)).readUInt16BE();
    this.requested.push(`${host}:${port}`);
    if (command !== CONNECT || this.closed) return void socket.end(answer(NOT_ALLOWED));
    await this.join(socket, this.names[host] ?? host, port);
  }

  private async join(socket: Socket, host: string, port: number): Promise<void> {
    const target = connect(port, host);
    this.keep(target);
    try {
      await once(target, 'connect');
    } catch {
      return void socket.end(answer(HOST_UNREACHABLE));
    }
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
    socket.write(answer(0));
    socket.pipe(target).pipe(socket);
  }
}

async function read(socket: Socket, bytes: number): Promise<Buffer> {
  if (bytes === 0) return Buffer.alloc(0);
  for (;;) {
    const chunk: unknown = socket.read(bytes);
    if (chunk instanceof Buffer && chunk.length === bytes) return chunk;
    if (socket.readableEnded || socket.destroyed) throw new Error('the connection ended early');
    await once(socket, 'readable');
  }
}

async function hostOf(socket: Socket, kind: number | undefined): Promise<string> {
  if (kind === IPV4) return [...(await read(socket, 4))].join('.');
  if (kind !== NAME) throw new Error('unsupported kind of address');
  const [length = 0] = await read(socket, 1);
  return (await read(socket, length)).toString();
}

/** The bound address in it is zero: no client reads it. */
function answer(code: number): Buffer {
  return Buffer.of(VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0);
}

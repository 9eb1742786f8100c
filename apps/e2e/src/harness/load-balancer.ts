import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * What stands before the edges of a region: connections go to those in rotation, in turn. One that is taken out gets no new ones,
 * and its open ones go on, as with a Service of Kubernetes.
 */
export class LoadBalancer {
  private readonly targets = new Map<string, Set<Socket>>();
  private turn = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<LoadBalancer> {
    const server = createServer();
    const balancer = new LoadBalancer(server);
    server.on('connection', (socket: Socket) => balancer.lead(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  add(url: string): void {
    this.targets.set(url, new Set());
  }

  /** Resolves when its connections have ended: those who use it make one for each request. */
  async takeOut(url: string): Promise<void> {
    const open = [...(this.targets.get(url) ?? [])];
    this.targets.delete(url);
    await Promise.all(
      open.map(async (socket) => {
        if (!socket.destroyed) await once(socket, 'close');
      }),
    );
  }

  async close(): Promise<void> {
    this.server.close();
    await Promise.all([...this.targets.keys()].map((url) => this.takeOut(url)));
  }

  private lead(client: Socket): void {
    const urls = [...this.targets.keys()];
    const url = urls[(this.turn += 1) % urls.length] ?? '';
    const { port } = new URL(url);
    const server = connect({ port: Number(port), host: '127.0.0.1' });
    const open = this.targets.get(url);
    open?.add(server);
    server.on('close', () => (open?.delete(server), client.destroy()));
    client.on('close', () => server.destroy());
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    client.pipe(server).pipe(client);
  }
}

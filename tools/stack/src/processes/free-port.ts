import { createServer, type Server } from 'node:net';

/** What a process holds together: its own listener on the first port, and the ports after it to give out. */
const BLOCK_SIZE = 16;
/** Below 32768, where Linux begins with ports of outgoing connections (macOS and Windows begin at 49152). */
const FIRST_PORT = 10_000;
const END_PORT = 32_768;

/** Listens on a loopback port; nothing, when it is in use. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

/** Is nothing listening on this port of the loopback address, and can this process listen there? */
export async function isFreePort(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/**
 * Ports of the loopback address for servers that another process opens, some time after the choice.
 *
 * A port that the system picks is from the range of outgoing connections: until the server listens, and again while it
 * restarts, any connection may take it. So ports come from below that range. Two processes that choose at one time
 * cannot choose the same: ports come in blocks, and a block is of the process that listens on its first port, until
 * that process ends.
 */
export class PortBlocks {
  /** First ports of the blocks that are held, with how many ports of each are still to be given out. */
  readonly #left = new Map<number, number[]>();
  readonly #end: number;

  /** @param range first port, end (exclusive) and size of a block; blocks start at multiples of the size from `first` */
  constructor(private readonly range: { first: number; end: number; blockSize: number }) {
    this.#end = range.first + Math.floor((range.end - range.first) / range.blockSize) * range.blockSize;
  }

  /**
   * The first of the preferred ports that is free and in no other process's block, else a port not given out before.
   * @throws when every block is held or full
   */
  async choose(...preferred: (number | undefined)[]): Promise<number> {
    for (const port of preferred) {
      if (port !== undefined && (await this.#take(port))) return port;
    }
    for (const ports of this.#left.values()) {
      for (let port = ports.shift(); port !== undefined; port = ports.shift()) {
        if (await isFreePort(port)) return port;
      }
    }
    const count = (this.#end - this.range.first) / this.range.blockSize;
    const start = Math.floor(Math.random() * count);
    for (let step = 0; step < count; step += 1) {
      const first = this.range.first + ((start + step) % count) * this.range.blockSize;
      if (!this.#left.has(first) && (await this.#hold(first))) return this.choose();
    }
    throw new Error(`No free port on 127.0.0.1 from ${this.range.first} to ${this.#end - 1}.`);
  }

  /** Takes one certain port; one outside the range belongs to no block. */
  async #take(port: number): Promise<boolean> {
    if (port >= this.range.first && port < this.#end) {
      const first = port - ((port - this.range.first) % this.range.blockSize);
      if (port === first || !(this.#left.has(first) || (await this.#hold(first)))) return false;
      const ports = this.#left.get(first) ?? [];
      if (ports.includes(port)) ports.splice(ports.indexOf(port), 1);
    }
    return isFreePort(port);
  }

  async #hold(first: number): Promise<boolean> {
    const server = await listen(first);
    if (server === undefined) return false;
    server.unref();
    this.#left.set(
      first,
      Array.from({ length: this.range.blockSize - 1 }, (_, index) => first + 1 + index),
    );
    return true;
  }
}

const ownBlocks = new PortBlocks({ first: FIRST_PORT, end: END_PORT, blockSize: BLOCK_SIZE });

/**
 * A port of the loopback address that no process of this machine uses or was given by this function; see `PortBlocks`.
 * @param preferred ports that are taken, the first free one, if any is
 * @throws when there is none
 */
export function choosePort(...preferred: (number | undefined)[]): Promise<number> {
  return ownBlocks.choose(...preferred);
}

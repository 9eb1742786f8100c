import { once } from 'node:events';
import { createServer } from 'node:net';
import { choosePort, isFreePort, PortBlocks } from './free-port.js';

/** Four blocks of four ports, three of each to give out, in a place of their own. */
const first = 9_900;
const range = { first, end: first + 16, blockSize: 4 };

async function chosenBy(blocks: PortBlocks): Promise<number[]> {
  const ports: number[] = [];
  for (;;) {
    const port = await blocks.choose().catch(() => undefined);
    if (port === undefined) return ports;
    ports.push(port);
  }
}

describe('ports for servers that start later', () => {
  it('are below the range of outgoing connections, which may take a port at any moment', async () => {
    const ports = await Promise.all(Array.from({ length: 40 }, () => choosePort()));
    expect(Math.max(...ports)).toBeLessThan(32_768);
    expect(new Set(ports).size).toBe(40);
  });

  it('are never given to two processes, and the error names the range when all are given', async () => {
    const processes = [new PortBlocks(range), new PortBlocks(range)];
    const ports = (await Promise.all(processes.map(chosenBy))).flat();
    expect(new Set(ports).size).toBe(ports.length);
    expect(ports).toHaveLength(12);
    await expect(processes[0]?.choose()).rejects.toThrow(`No free port on 127.0.0.1 from ${first} to ${first + 15}.`);
  });

  it('are those of last time when they are free, but not from the block of another process', async () => {
    const [own, other] = [
      new PortBlocks({ ...range, first: first + 20, end: first + 36 }),
      new PortBlocks({ ...range, first: first + 20, end: first + 36 }),
    ];
    expect(await own.choose(first + 22)).toBe(first + 22);
    const elsewhere = await other.choose(first + 21);
    expect(elsewhere).not.toBe(first + 21);
    expect(Math.floor((elsewhere - first) / 4)).not.toBe(Math.floor(21 / 4));
    expect(await own.choose(first + 21)).toBe(first + 21);
  });

  it('leave out a port that something else listens on', async () => {
    const blocks = new PortBlocks({ first: first + 40, end: first + 44, blockSize: 4 });
    const server = createServer().listen(first + 42, '127.0.0.1');
    await once(server, 'listening');
    expect(await isFreePort(first + 42)).toBe(false);
    expect(await chosenBy(blocks)).toEqual([first + 41, first + 43]);
    server.close();
    await once(server, 'close');
  });
});

/** A way to an object storage that can be cut in the middle of a transfer, for specs. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface BreakableWay {
  /** Takes the place of the storage's own endpoint. */
  readonly endpoint: string;
  /** From now on every connection is cut once it has carried so many more bytes, there or back. Absent: none is. */
  breakAfter(bytes: number | undefined): void;
  close(): Promise<void>;
}

/** @param endpoint of a storage that speaks plain HTTP */
export async function openBreakableWay(endpoint: string): Promise<BreakableWay> {
  const { hostname, port } = new URL(endpoint);
  const open = new Set<Socket>();
  let left: number | undefined;
  let turn = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let carried = 0;
    let countedIn = turn;
    const carry = (from: Socket, to: Socket) => {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.on('end', () => to.end());
      from.on('data', (bytes: Buffer) => {
        carried = countedIn === turn ? carried + bytes.length : bytes.length;
        countedIn = turn;
        if (left === undefined || carried <= left) {
          if (!to.write(bytes)) {
            from.pause();
            to.once('drain', () => from.resume());
          }
          return;
        }
        const allowed = bytes.subarray(0, Math.max(0, bytes.length - (carried - left)));
        to.write(allowed, () => {
          near.resetAndDestroy();
          far.destroy();
        });
      });
    };
    carry(near, far);
    carry(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakAfter: (bytes) => {
      left = bytes;
      turn += 1;
    },
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

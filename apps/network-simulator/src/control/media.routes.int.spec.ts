import { startSimulator } from '../simulator.js';
import { parseRange } from './media.routes.js';

describe('the file host', () => {
  it('cuts ranges', () => {
    expect(parseRange(undefined, 10)).toBeUndefined();
    expect(parseRange('bytes=2-4', 10)).toEqual({ from: 2, to: 4 });
    expect(parseRange('bytes=2-', 10)).toEqual({ from: 2, to: 9 });
    expect(parseRange('bytes=-3', 10)).toEqual({ from: 7, to: 9 });
    expect(parseRange('bytes=10-', 10)).toBe('unsatisfiable');
  });

  it('takes, gives, cuts, slows, breaks and forgets files', async () => {
    const simulator = await startSimulator();
    const { network, control } = simulator;
    const bytes = Buffer.alloc(50_000, 7);
    const upload = () => fetch(`${control}/mms/image/some-hash?auth=a&token=b`, { method: 'POST', body: bytes });
    const { direct_path: path } = (await (await upload()).json()) as { direct_path: string };
    const get = (headers: Record<string, string> = {}) => fetch(control + path, { headers });
    expect(Buffer.from(await (await get()).arrayBuffer()).equals(bytes)).toBe(true);
    const part = await get({ range: 'bytes=10-19' });
    expect([part.status, part.headers.get('content-range'), (await part.arrayBuffer()).byteLength]).toEqual([
      206,
      'bytes 10-19/50000',
      10,
    ]);
    network.faults.add({ kind: 'slow-media', ms: 5, count: 1 });
    const startedMs = performance.now();
    expect((await (await get()).arrayBuffer()).byteLength).toBe(50_000);
    // Four parts, each after its pause; timers may be a moment early.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(4 * 4);
    network.faults.add({ kind: 'break-media', count: 1 });
    await expect(get().then((response) => response.arrayBuffer())).rejects.toBeDefined();
    network.faults.add({ kind: 'refuse-upload', code: 503, count: 1 });
    expect((await upload()).status).toBe(503);
    network.media.expire(path, 410);
    expect((await get()).status).toBe(410);
    const { direct_path: other } = (await (await upload()).json()) as { direct_path: string };
    expect(network.media.expire(undefined, 404)).toBe(2);
    expect((await fetch(control + other)).status).toBe(404);
    const renewed = network.media.renew(other) ?? '';
    expect(Buffer.from(await (await fetch(control + renewed)).arrayBuffer()).equals(bytes)).toBe(true);
    expect((await fetch(`${control}/v/nothing`)).status).toBe(404);
    await simulator.stop();
  });
});

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
    const upload = () =>
      fetch(`${control}/mms/image/some-hash?auth=${network.media.uploadToken('6591110001')}&token=b`, {
        method: 'POST',
        body: bytes,
      });
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

  it('refuses a path without the query that came with it, and an upload without the token of a number', async () => {
    const simulator = await startSimulator();
    const { network, control } = simulator;
    const path = network.media.put(Buffer.from('sealed'), '6591110001');
    const status = async (of: string) => (await fetch(control + of)).status;
    expect(path).toMatch(/^\/v\/[^?]*\?ccb=[^&]*&oh=[^&]*&oe=[0-9A-F]*$/);
    expect(await status(path)).toBe(200);
    expect(await status(`${path}&hash=abc&mms-type=image&__wa-mms=`)).toBe(200);
    expect(await status(path.replace(/\?.*/, ''))).toBe(403);
    expect(await status(path.replace(/oh=[^&]*/, 'oh=01_another'))).toBe(403);
    const anonymous = await fetch(`${control}/mms/image/hash?auth=simulated`, { method: 'POST', body: 'sealed' });
    expect(anonymous.status).toBe(401);
    await simulator.stop();
  });

  it('strikes the files of one number, when a fault names it', async () => {
    const simulator = await startSimulator();
    const { network, control } = simulator;
    const [ours, theirs] = ['6591110001', '6591110002'];
    const upload = async (phone: string) => {
      const url = `${control}/mms/image/hash?auth=${network.media.uploadToken(phone)}`;
      return (await fetch(url, { method: 'POST', body: 'sealed' })).status;
    };
    const fault = (body: object) =>
      fetch(`${control}/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ phone: ours, ...body }),
      }).then((response) => response.json());
    await fault({ kind: 'refuse-upload', count: 1 });
    expect([await upload(theirs), await upload(ours), await upload(ours)]).toEqual([200, 500, 200]);
    const [mine, other] = [network.media.put(Buffer.from('a'), ours), network.media.put(Buffer.from('b'), theirs)];
    expect(await fault({ kind: 'expire-media' })).toEqual({ expired: 2 });
    expect([(await fetch(control + mine)).status, (await fetch(control + other)).status]).toEqual([410, 200]);
    await simulator.stop();
  });
});

import { FencedError, type Fence } from '@dormouse/database';
import { ReportQueue } from './report-queue.js';
import type { StatusReport } from './status-ladder.js';

const fence: Fence = { shard: 1, epoch: 1n };

describe('ReportQueue', () => {
  const report = (keyId: string, status: StatusReport['status'] = 'delivered'): StatusReport => ({
    keyId,
    status,
    timestamp: 1,
  });
  /** Writes that end when the spec ends them; each is the ids it was given. */
  let begun: { ids: string; epoch: bigint; end: (outcome: number[] | Error) => void }[];
  let queue: ReportQueue;
  const turn = () => jest.advanceTimersByTimeAsync(0);

  afterEach(() => void jest.useRealTimers());
  beforeEach(() => {
    jest.useFakeTimers();
    begun = [];
    queue = new ReportQueue(
      ({ epoch }, channelId, reports) =>
        new Promise((resolve, reject) => {
          const ids = `${channelId}:${reports.map(({ keyId }) => keyId).join()}`;
          const end = (outcome: number[] | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
          begun.push({ ids, epoch, end });
        }),
    );
  });
  const ids = () => begun.map((write) => write.ids);

  it('writes at once, and together what waits for that write, in the order it was given', async () => {
    const first = queue.add(fence, 'c', [report('A')]);
    const second = queue.add(fence, 'c', [report('B')]);
    const third = queue.add(fence, 'c', [report('C'), report('D')]);
    expect(ids()).toEqual(['c:A']);
    begun[0]?.end([1]);
    expect(await first).toEqual([1]);
    await turn();
    expect(ids()).toEqual(['c:A', 'c:B,C,D']);
    begun[1]?.end([2, 3, 4]);
    expect(await Promise.all([second, third])).toEqual([[2, 3, 4], []]);
    void queue.add(fence, 'c', [report('E')]);
    expect(ids()).toEqual(['c:A', 'c:B,C,D', 'c:E']);
  });

  it('lets an acknowledgement wait a moment for the receipt, and a receipt for nothing', async () => {
    void queue.add(fence, 'c', [report('A', 'sent')]);
    void queue.add(fence, 'c', [report('B', 'sent')]);
    await jest.advanceTimersByTimeAsync(10);
    expect(ids()).toEqual([]);
    void queue.add(fence, 'c', [report('A')]);
    expect(ids()).toEqual(['c:A,B,A']);
    begun[0]?.end([1]);
    await jest.advanceTimersByTimeAsync(1_000);
    void queue.add(fence, 'c', [report('C', 'sent')]);
    await jest.advanceTimersByTimeAsync(100);
    expect(ids()).toEqual(['c:A,B,A', 'c:C']);
  });

  it('lets no channel wait for another', () => {
    void queue.add(fence, 'c', [report('A')]);
    void queue.add(fence, 'd', [report('B')]);
    expect(ids()).toEqual(['c:A', 'd:B']);
  });

  it('writes each by itself when they cannot be written together', async () => {
    void queue.add(fence, 'c', [report('A')]);
    const poison = queue.add(fence, 'c', [report('B')]);
    const sound = queue.add(fence, 'c', [report('C')]);
    begun[0]?.end([1]);
    await turn();
    begun[1]?.end(new Error('not storable'));
    await turn();
    begun[2]?.end(new Error('not storable'));
    await expect(poison).rejects.toThrow('not storable');
    await turn();
    begun[3]?.end([2]);
    expect(await sound).toEqual([2]);
    expect(ids()).toEqual(['c:A', 'c:B,C', 'c:B', 'c:C']);
  });

  it('keeps what is given under another ownership apart', async () => {
    void queue.add(fence, 'c', [report('A')]);
    const fenced = queue.add(fence, 'c', [report('B')]);
    const newer = queue.add({ ...fence, epoch: 2n }, 'c', [report('C')]);
    begun[0]?.end([]);
    await turn();
    begun[1]?.end(new FencedError(fence));
    await expect(fenced).rejects.toBeInstanceOf(FencedError);
    await turn();
    begun[2]?.end([1]);
    expect(await newer).toEqual([1]);
    expect(begun.map(({ epoch }) => epoch)).toEqual([1n, 1n, 2n]);
  });
});

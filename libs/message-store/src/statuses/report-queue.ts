/**
 * Reports of a channel, written one after the other, and together where they wait.
 *
 * Why: the recipient's receipt follows the network's acknowledgement of a message within milliseconds, and each would wait
 * for the other's lock in PostgreSQL. So an acknowledgement waits a moment for the receipt; nothing else waits for more.
 *
 * What it guarantees: reports are written in the order they were given; the caller gets the outcome of each; one that cannot be
 * written costs no other. Channels do not wait for each other.
 */
import { Coalescer, FencedError, type Fence } from '@dormouse/database';
import type { StatusReport } from './status-ladder.js';

/** Writes reports at once; returns the numbers of the events they made. */
export type WriteReports = (fence: Fence, channelId: string, reports: readonly StatusReport[]) => Promise<number[]>;

interface Given {
  readonly fence: Fence;
  readonly reports: readonly StatusReport[];
}

/** How long an acknowledgement waits for the receipt. */
const TOGETHER_MS = 20;

export class ReportQueue {
  /** Channels with reports that are not written yet. */
  private readonly channels = new Map<string, Coalescer<Given, number[]>>();

  constructor(private readonly write: WriteReports) {}

  /** @returns the numbers of the events made; where reports were written together, to the first who gave some */
  async add(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<number[]> {
    const channel = this.channels.get(channelId) ?? this.open(channelId);
    const { result, index } = await channel.add({ fence, reports });
    return index === 0 ? result : [];
  }

  private open(channelId: string): Coalescer<Given, number[]> {
    const channel = new Coalescer<Given, number[]>({
      flush: async (given) => {
        const [first] = given;
        if (!first) return [];
        const reports = given.flatMap((each) => each.reports);
        return this.write(first.fence, channelId, reports);
      },
      together: countOfSameOwnership,
      delayMs: ({ reports }) => (reports.every(({ status }) => status === 'sent') ? TOGETHER_MS : 0),
      separates: (error) => !(error instanceof FencedError),
      onIdle: () => void this.channels.delete(channelId),
    });
    this.channels.set(channelId, channel);
    return channel;
  }
}

/** How many, from the first on, were given under the same ownership. */
function countOfSameOwnership(given: readonly Given[]): number {
  const other = given.findIndex(({ fence }) => fence.epoch !== given[0]?.fence.epoch);
  return other === -1 ? given.length : other;
}

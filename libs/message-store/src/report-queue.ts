/**
 * Reports of a channel, written one after the other, and together where they wait.
 *
 * Why: the network's acknowledgement of a message and the receipt of its recipient come within a millisecond, and each
 * would wait for the other's lock in PostgreSQL.
 *
 * What it guarantees: reports are written in the order they were given; who gave one is told when it is written, or why
 * it could not be; one that cannot be written costs no other. Channels do not wait for each other.
 */
import { FencedError, type Fence } from '@dormouse/database';
import type { StatusReport } from './status-ladder.js';

/** Writes reports at once; returns the numbers of the events they made. */
export type WriteReports = (fence: Fence, channelId: string, reports: readonly StatusReport[]) => Promise<number[]>;

interface Given {
  readonly fence: Fence;
  readonly reports: readonly StatusReport[];
  resolve(seqs: number[]): void;
  reject(error: unknown): void;
}

export class ReportQueue {
  /** What waits while a write of its channel is under way. */
  private readonly waiting = new Map<string, Given[]>();

  constructor(private readonly write: WriteReports) {}

  /** @returns the numbers of the events made; where reports were written together, to the first who gave some */
  add(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      const given: Given = { fence, reports, resolve, reject };
      const line = this.waiting.get(channelId);
      if (line) {
        line.push(given);
        return;
      }
      this.waiting.set(channelId, []);
      void this.drain(channelId, [given]);
    });
  }

  private async drain(channelId: string, first: Given[]): Promise<void> {
    for (let next = first; next.length > 0; next = this.nextOf(channelId)) await this.writeTogether(channelId, next);
    this.waiting.delete(channelId);
  }

  /** Those at the head of the line that are given under the same ownership. */
  private nextOf(channelId: string): Given[] {
    const line = this.waiting.get(channelId) ?? [];
    const other = line.findIndex(({ fence }) => fence.epoch !== line[0]?.fence.epoch);
    return line.splice(0, other === -1 ? line.length : other);
  }

  private async writeTogether(channelId: string, [first, ...others]: Given[]): Promise<void> {
    if (!first) return;
    try {
      const reports = [first, ...others].flatMap((given) => given.reports);
      first.resolve(await this.write(first.fence, channelId, reports));
      for (const other of others) other.resolve([]);
    } catch (error) {
      const all = [first, ...others];
      if (all.length === 1 || error instanceof FencedError) for (const given of all) given.reject(error);
      else for (const given of all) await this.writeTogether(channelId, [given]);
    }
  }
}

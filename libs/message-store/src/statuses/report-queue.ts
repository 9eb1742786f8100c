/**
 * Reports of a channel, written one after the other, and together where they wait.
 *
 * Why: the recipient's receipt follows the network's acknowledgement of a message within milliseconds, and each would wait
 * for the other's lock in PostgreSQL. So an acknowledgement waits a moment for the receipt; nothing else waits for more.
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

/** The reports of one channel that are not being written yet. */
interface Line {
  waiting: Given[];
  writing: boolean;
  timer?: NodeJS.Timeout | undefined;
}

/** How long an acknowledgement waits for the receipt. */
const TOGETHER_MS = 20;

export class ReportQueue {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly write: WriteReports) {}

  /** @returns the numbers of the events made; where reports were written together, to the first who gave some */
  add(fence: Fence, channelId: string, reports: readonly StatusReport[]): Promise<number[]> {
    const line = this.lines.get(channelId) ?? { waiting: [], writing: false };
    this.lines.set(channelId, line);
    return new Promise((resolve, reject) => {
      line.waiting.push({ fence, reports, resolve, reject });
      if (line.writing) return;
      if (reports.every(({ status }) => status === 'sent')) {
        line.timer ??= setTimeout(() => void this.drain(channelId, line), TOGETHER_MS);
      } else void this.drain(channelId, line);
    });
  }

  private async drain(channelId: string, line: Line): Promise<void> {
    clearTimeout(line.timer);
    line.timer = undefined;
    line.writing = true;
    while (line.waiting.length > 0) await this.writeTogether(channelId, nextOf(line));
    this.lines.delete(channelId);
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

/** Those at the head of the line that are given under the same ownership. */
function nextOf({ waiting }: Line): Given[] {
  const other = waiting.findIndex(({ fence }) => fence.epoch !== waiting[0]?.fence.epoch);
  return waiting.splice(0, other === -1 ? waiting.length : other);
}

/**
 * One direction of a connection over a long and lossy way: everything arrives later, in order. A segment that is lost costs what it
 * costs TCP: the time until it is sent again, for which everything behind it waits. Which ones are lost is not random: of `loss`
 * 0.02 every fiftieth.
 */
import type { Socket } from 'node:net';

export interface SlowWayTerms {
  /** From one end to the other, in milliseconds. */
  delayMs: number;
  /** Share of the segments that are lost, from 0 to below 1. */
  loss: number;
}

/** Bytes of a segment on a usual network. */
const SEGMENT = 1_448;
/** The shortest time after which TCP sends again what was not acknowledged, beside the way there and back. */
const LEAST_WAIT_MS = 200;
/** Bytes that are under way at most; more is not read from the sender. */
const WINDOW = 1024 * 1024;

export class SlowWay {
  private segments = 0;
  private underWay = 0;
  private freeAtMs = 0;

  constructor(private readonly terms: SlowWayTerms) {}

  /** Calls `arrive` once the bytes have reached the other end. The sender is not read while too much is under way. */
  carry(bytes: number, from: Socket, arrive: () => void): void {
    const { delayMs } = this.terms;
    const arrivesAtMs = Math.max(this.freeAtMs, performance.now() + delayMs + this.lossOf(bytes));
    this.freeAtMs = arrivesAtMs;
    this.underWay += bytes;
    if (this.underWay > WINDOW) from.pause();
    // Timers drop fractions and may fire a millisecond early: nothing arrives before its time.
    const waitMs = Math.ceil(arrivesAtMs - performance.now()) + 1;
    setTimeout(() => {
      this.underWay -= bytes;
      if (from.isPaused() && this.underWay <= WINDOW) from.resume();
      arrive();
    }, waitMs);
  }

  /** What it costs to send again what of the next bytes is lost, in milliseconds. */
  private lossOf(bytes: number): number {
    const { delayMs, loss } = this.terms;
    const before = Math.floor(this.segments * loss);
    this.segments += Math.ceil(bytes / SEGMENT);
    return Math.floor(this.segments * loss) > before ? 2 * delayMs + LEAST_WAIT_MS : 0;
  }
}

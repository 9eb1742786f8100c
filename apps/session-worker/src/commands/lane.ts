/**
 * One channel's commands, one at a time and in the order they were called.
 *
 * What it guarantees: at most one command of a channel has the lane; of those waiting, the one called first is next;
 * a command that has not started by its `startBy` is refused with 503 at that moment and never starts, even if the
 * lane becomes free a moment later. A command that is still being prepared keeps its place: none overtakes it, while
 * those behind it are prepared at the same time; when its preparation fails it leaves the line at once. Channels do not
 * wait for each other. It holds no state beyond this process: when the process dies, the commands that waited are lost
 * with it, and the queue replies to their callers.
 */
import { GatewayError } from '@dormouse/gateway-contract';

/** A command that waits for the lane. */
export interface LaneTicket {
  /** Grows with the order of calls. */
  readonly order: number;
  /** Epoch milliseconds: not to be started later. */
  readonly startBy: number;
  /** Its preparation, which has to end before it can start and goes on while it stands in line. Absent: none. */
  readonly prepared?: Promise<unknown> | undefined;
}

export interface LaneClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls back after `delayMs`, unless the returned function is called before. */
  schedule(delayMs: number, callback: () => void): () => void;
}

export const SYSTEM_CLOCK: LaneClock = {
  now: Date.now,
  schedule: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The command's time was over before its turn: 503, which promises that nothing was sent to the network. */
export class TooLate extends GatewayError {
  constructor(details: string) {
    super(503, { details, retryAfterS: 1 });
  }
}

const BUSY = 'busy: earlier requests of this channel are still running';
const UNPREPARED = 'the message could not be prepared in time';

interface Waiting {
  readonly ticket: LaneTicket;
  ready: boolean;
  start(): void;
}

export class Lane {
  private readonly waiting: Waiting[] = [];
  private occupied = false;
  private turnPlanned = false;

  constructor(private readonly clock: LaneClock = SYSTEM_CLOCK) {}

  /** No command has it and none waits. */
  get idle(): boolean {
    return !this.occupied && this.waiting.length === 0;
  }

  /**
   * Waits for the lane.
   * @returns leaves the lane to the next; safe to call twice
   * @throws {GatewayError} 503 when it was not free, or the command not prepared, by `startBy`
   * @throws what the preparation failed with
   */
  enter(ticket: LaneTicket): Promise<() => void> {
    const timeLeftMs = ticket.startBy - this.clock.now();
    if (timeLeftMs <= 0) return Promise.reject(new TooLate(BUSY));
    return new Promise((resolve, reject) => {
      const leaveLine = (reason: unknown): void => {
        const place = this.waiting.indexOf(entry);
        if (place === -1) return;
        this.waiting.splice(place, 1);
        cancelTimer();
        reject(reason instanceof Error ? reason : new Error(String(reason)));
        this.planTurn();
      };
      const cancelTimer = this.clock.schedule(timeLeftMs, () => {
        leaveLine(new TooLate(entry.ready ? BUSY : UNPREPARED));
      });
      const entry: Waiting = {
        ticket,
        ready: ticket.prepared === undefined,
        start: () => {
          cancelTimer();
          resolve(this.occupy());
        },
      };
      this.lineUp(entry);
      ticket.prepared?.then(() => {
        entry.ready = true;
        this.planTurn();
      }, leaveLine);
    });
  }

  private lineUp(entry: Waiting): void {
    const later = this.waiting.findIndex(({ ticket }) => ticket.order > entry.ticket.order);
    this.waiting.splice(later === -1 ? this.waiting.length : later, 0, entry);
    this.planTurn();
  }

  private occupy(): () => void {
    this.occupied = true;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.occupied = false;
      this.planTurn();
    };
  }

  /** Commands that arrive together may arrive out of order: all of them line up before one starts. */
  private planTurn(): void {
    if (this.turnPlanned || this.occupied) return;
    this.turnPlanned = true;
    queueMicrotask(() => {
      this.turnPlanned = false;
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.occupied) return;
    const nowMs = this.clock.now();
    const next = this.waiting.find(({ ticket }) => ticket.startBy > nowMs); // the others are about to be refused by their timers
    if (!next?.ready) return;
    this.waiting.splice(this.waiting.indexOf(next), 1);
    next.start();
  }
}

/** The lanes of all channels. An unused lane costs nothing. */
export class Lanes {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly clock: LaneClock = SYSTEM_CLOCK) {}

  /** See {@link Lane.enter}. */
  async enter(channelId: string, ticket: LaneTicket): Promise<() => void> {
    const lane = this.laneOf(channelId);
    try {
      const leave = await lane.enter(ticket);
      return () => {
        leave();
        this.dropIfIdle(channelId, lane);
      };
    } catch (error) {
      this.dropIfIdle(channelId, lane);
      throw error;
    }
  }

  /** Number of channels with a command that runs or waits. */
  get size(): number {
    return this.lanes.size;
  }

  private laneOf(channelId: string): Lane {
    const known = this.lanes.get(channelId);
    if (known) return known;
    const lane = new Lane(this.clock);
    this.lanes.set(channelId, lane);
    return lane;
  }

  private dropIfIdle(channelId: string, lane: Lane): void {
    if (lane.idle && this.lanes.get(channelId) === lane) this.lanes.delete(channelId);
  }
}

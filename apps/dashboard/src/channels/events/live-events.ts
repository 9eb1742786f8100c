/**
 * Events as they arrive, for a page: the newest ones, newest first.
 *
 * Guarantees: at most `limit` are kept; the page is notified once for each frame, however many arrive; while it is paused
 * what is shown stays, and the newest `limit` of what arrives meanwhile are shown when it goes on.
 */
import type { PulledEvent } from '@dormouse/management-contract';

export interface LiveView {
  /** Newest first. */
  readonly events: readonly PulledEvent[];
  readonly isPaused: boolean;
  /** Events that arrived since the pause began. */
  readonly waiting: number;
}

export class LiveEvents {
  #view: LiveView = { events: [], isPaused: false, waiting: 0 };
  #arrived: PulledEvent[] = [];
  #arrivedInPause = 0;
  #isFrameRequested = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly limit: number,
    private readonly requestFrame: (callback: () => void) => void = (callback) =>
      void requestAnimationFrame(() => callback()),
  ) {}

  get view(): LiveView {
    return this.#view;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  add(event: PulledEvent): void {
    this.#arrived.push(event);
    if (this.#arrived.length > this.limit) this.#arrived.shift();
    if (this.#view.isPaused) this.#arrivedInPause += 1;
    this.#request();
  }

  pause(isPaused: boolean): void {
    this.#view = { ...this.#view, isPaused };
    this.#request();
  }

  clear(): void {
    this.#arrived = [];
    this.#arrivedInPause = 0;
    this.#view = { ...this.#view, events: [], waiting: 0 };
    this.#request();
  }

  #request(): void {
    if (this.#isFrameRequested) return;
    this.#isFrameRequested = true;
    this.requestFrame(() => this.#show());
  }

  #show(): void {
    this.#isFrameRequested = false;
    if (this.#view.isPaused) {
      this.#view = { ...this.#view, waiting: this.#arrivedInPause };
    } else {
      const events = [...this.#arrived.reverse(), ...this.#view.events].slice(0, this.limit);
      this.#arrived = [];
      this.#arrivedInPause = 0;
      this.#view = { events, isPaused: false, waiting: 0 };
    }
    for (const listener of this.#listeners) listener();
  }
}

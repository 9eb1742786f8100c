/**
 * Server-sent events of the management API, opened again by itself.
 *
 * Guarantees: while a stream is away it is tried again after 1 s, then 2 s, up to 10 s; `onAway` and `onOpen` report each
 * change once. A stream that reopens names the last event that it received, so none is missed and none comes twice. After
 * `close` nothing is reported any more.
 */

/** What a stream uses of the browser's `EventSource`. */
export interface Source {
  onopen: ((event: Event) => unknown) | null;
  onerror: ((event: Event) => unknown) | null;
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

export interface EventStreamSettings {
  /** Address of the stream, after the event with this id if there was one. */
  address: (lastEventId: string | undefined) => string;
  /** Names of the events; `message` is that of events without a name. */
  events: readonly string[];
  /** An event with its data, parsed. */
  onEvent: (event: { name: string; data: unknown }) => void;
  onOpen?: () => void;
  /** The stream broke, or was refused. It is opened again. */
  onAway?: () => void;
  openSource?: (address: string) => Source;
  /** Calls back after so many milliseconds. @returns what ends the wait */
  wait?: (callback: () => void, ms: number) => () => void;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

export class EventStream {
  #source: Source | undefined;
  #endWait: (() => void) | undefined;
  #lastEventId: string | undefined;
  #waitMs = FIRST_WAIT_MS;
  #isAway = false;
  #isClosed = false;

  constructor(private readonly settings: EventStreamSettings) {
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#endWait?.();
    this.#source?.close();
  }

  #open(): void {
    const { address, events, openSource = (url) => new EventSource(url) } = this.settings;
    const source = openSource(address(this.#lastEventId));
    this.#source = source;
    source.onopen = () => {
      this.#waitMs = FIRST_WAIT_MS;
      this.#isAway = false;
      this.settings.onOpen?.();
    };
    source.onerror = () => this.#reopen(source);
    for (const name of events) {
      source.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
        if (this.#isClosed || this.#source !== source) return;
        if (lastEventId !== '') this.#lastEventId = lastEventId;
        this.settings.onEvent({ name, data: JSON.parse(data) as unknown });
      });
    }
  }

  /** A browser tries a broken stream again, but gives up on one that was refused: both are tried again here. */
  #reopen(source: Source): void {
    if (this.#isClosed || this.#source !== source) return;
    source.close();
    this.#source = undefined;
    if (!this.#isAway) this.settings.onAway?.();
    this.#isAway = true;
    const { wait = waitInBrowser } = this.settings;
    this.#endWait = wait(() => this.#open(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
  }
}

function waitInBrowser(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

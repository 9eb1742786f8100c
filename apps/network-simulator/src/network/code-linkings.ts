import type { Connection } from './connection.js';

/** A client that waits for its code to be entered on the phone it named. */
export interface WaitingClient {
  connection: Connection;
  ref: Buffer;
  wrapped: Buffer;
  /** Called with the key bundle of the client's last request. */
  finished?: (bundle: Buffer) => void;
}

/** How long entering a code waits for the request of the client that shows it. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Clients that wait for a code, by the number they named. */
export class CodeLinkings {
  private readonly waiting = new Map<string, WaitingClient>();
  private readonly arrivals = new Map<string, () => void>();

  add(phone: string, client: WaitingClient): void {
    this.waiting.set(phone, client);
    this.arrivals.get(phone)?.();
  }

  remove(phone: string): void {
    this.waiting.delete(phone);
  }

  /** The waiting clients of one connection. */
  on(connection: Connection): WaitingClient[] {
    return [...this.waiting.values()].filter((client) => client.connection === connection);
  }

  /**
   * The client that waits for a code of this number. A client shows its code as soon as it has made it, and its request
   * may still be under way: waits for that a while, also when an earlier client has gone.
   */
  async clientFor(phone: string): Promise<WaitingClient | undefined> {
    const known = this.waiting.get(phone);
    const client = known?.connection.open ? known : await this.arrival(phone);
    return client?.connection.open ? client : undefined;
  }

  private arrival(phone: string): Promise<WaitingClient | undefined> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.arrivals.delete(phone);
        resolve(this.waiting.get(phone));
      };
      const timer = setTimeout(done, REQUEST_TIMEOUT_MS);
      this.arrivals.set(phone, done);
    });
  }
}

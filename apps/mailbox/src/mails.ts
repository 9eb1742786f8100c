/** The mails that were received, in memory: the newest thousand, in the order of their arrival. */
import type { ReceivedMail } from './received-mail.js';

export interface Wanted {
  /** Only mail that reached this address; case does not count. */
  readonly to?: string | undefined;
  /** Only mail with a greater id. */
  readonly after?: number | undefined;
}

const KEPT = 1_000;

export class Mails {
  readonly #mails = new Map<number, ReceivedMail>();
  readonly #waiting = new Set<() => void>();
  readonly #ends = new Set<() => void>();
  #lastId = 0;

  add(content: Omit<ReceivedMail, 'id'>): void {
    this.#lastId += 1;
    this.#mails.set(this.#lastId, { id: this.#lastId, ...content });
    const [oldest] = this.#mails.keys();
    if (this.#mails.size > KEPT && oldest !== undefined) this.#mails.delete(oldest);
    for (const wake of [...this.#waiting]) wake();
  }

  get(id: number): ReceivedMail | undefined {
    return this.#mails.get(id);
  }

  /** Oldest first. */
  list({ to, after = 0 }: Wanted = {}): ReceivedMail[] {
    const address = to?.toLowerCase();
    return [...this.#mails.values()].filter(
      ({ id, envelope }) => id > after && (address === undefined || reaches(envelope.to, address)),
    );
  }

  /** @returns how many were deleted */
  remove(wanted: Wanted = {}): number {
    const removed = this.list(wanted);
    for (const { id } of removed) this.#mails.delete(id);
    return removed.length;
  }

  delete(id: number): boolean {
    return this.#mails.delete(id);
  }

  /**
   * The first mail that is wanted, if there is one, else the next that comes.
   * @param timeoutMs how long it waits; undefined after it
   */
  next(wanted: Wanted, timeoutMs: number): Promise<ReceivedMail | undefined> {
    return new Promise((resolve) => {
      const look = (): boolean => {
        const [first] = this.list(wanted);
        if (first) finish(first);
        return first !== undefined;
      };
      const finish = (mail: ReceivedMail | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        this.#ends.delete(end);
        resolve(mail);
      };
      const end = (): void => finish(undefined);
      const timer = setTimeout(end, timeoutMs);
      if (look()) return;
      this.#waiting.add(look);
      this.#ends.add(end);
    });
  }

  /** Ends every wait. */
  close(): void {
    for (const end of [...this.#ends]) end();
  }
}

function reaches(recipients: readonly string[], address: string): boolean {
  return recipients.some((recipient) => recipient.toLowerCase() === address);
}

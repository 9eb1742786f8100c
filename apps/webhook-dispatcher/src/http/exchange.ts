import type { Agent, Dispatcher } from 'undici';
import type { WebhookRequest } from './webhook-request.js';

/** What came back: the status, and of the body the beginning. */
export interface Received {
  status: number;
  location: string | string[] | undefined;
  text: string;
}

/** Of an answer's body at most this much is read, for at most this long; then the connection is closed instead. */
const READ_AT_MOST_BYTES = 4_096;
const READ_WITHIN_MS = 1_000;
/** Part of that which is recorded. */
const KEPT_BYTES = 1_024;

/**
 * One request and its answer on a connection of the agent. Once the status is known, whatever happens to the rest of the
 * answer changes nothing: it is read only to keep the connection.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with the connection's error, or with the reason of `abort`, where no status came. */
  readonly received: Promise<Received>;
  #controller: Dispatcher.DispatchController | undefined;
  #abortedFor: Error | undefined;
  #head: Omit<Received, 'text'> | undefined;
  #kept: Buffer[] = [];
  #readBytes = 0;
  #late: NodeJS.Timeout | undefined;
  #resolve: (received: Received) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  /** @param onStatus is called as soon as the status is known */
  constructor(
    agent: Agent,
    request: WebhookRequest,
    private readonly onStatus: () => void,
  ) {
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    agent.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: request.method,
        headers: request.headers,
        body: request.body,
      },
      this,
    );
  }

  /** Ends it at once, also before it has a connection. */
  abort(reason: Error): void {
    this.#abortedFor ??= reason;
    this.#controller?.abort(reason);
    this.#end(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortedFor) controller.abort(this.#abortedFor);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return; // more is to come
    this.#head = { status, location: headers['location'] };
    this.onStatus();
    this.#late = setTimeout(() => this.#stopReading(controller), READ_WITHIN_MS);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // The connection reuses the memory of a chunk.
    if (this.#readBytes < KEPT_BYTES) this.#kept.push(Buffer.from(chunk.subarray(0, KEPT_BYTES - this.#readBytes)));
    this.#readBytes += chunk.length;
    if (this.#readBytes > READ_AT_MOST_BYTES) this.#stopReading(controller);
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  #stopReading(controller: Dispatcher.DispatchController): void {
    this.#end();
    controller.abort(new Error('read enough'));
  }

  #end(error?: Error): void {
    clearTimeout(this.#late);
    if (this.#head) this.#resolve({ ...this.#head, text: textOf(this.#kept) });
    else this.#reject(error ?? new Error('ended without a status'));
  }
}

/** As text that PostgreSQL accepts: without NUL, and without half a character at the end. */
function textOf(kept: readonly Buffer[]): string {
  if (kept.length === 0) return '';
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\0', '');
}

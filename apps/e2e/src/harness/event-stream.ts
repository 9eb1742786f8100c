import type { WebhookCall } from './webhook-receiver.js';

/** An event as it is pulled or streamed. */
export interface StreamedEvent {
  id: string;
  sequence: number;
  body: WebhookCall['body'];
}

/** A channel's events as server-sent events, read as a browser reads them. */
export class EventStream {
  readonly events: StreamedEvent[] = [];
  /** Comment lines that keep the stream alive. */
  beats = 0;
  /** Resolves when the server has ended the stream in order; rejects when the connection broke. */
  readonly ended: Promise<void>;
  private readonly watchers = new Set<() => void>();

  private constructor(
    body: ReadableStream<Uint8Array>,
    private readonly abort: AbortController,
  ) {
    this.ended = this.read(body);
    this.ended.catch(() => undefined);
  }

  /** @throws with the status when the server refuses */
  static async open(url: string, accountKey: string, lastEventId?: number): Promise<EventStream> {
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: {
        authorization: `Bearer ${accountKey}`,
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
      },
      signal: abort.signal,
    });
    if (response.status !== 200 || !response.body) throw new Error(`the stream was refused: ${response.status}`);
    return new EventStream(response.body, abort);
  }

  /** The first event that fits, once it is there. */
  async waitFor(fits: (event: StreamedEvent) => boolean): Promise<StreamedEvent> {
    await this.until(() => this.events.some(fits));
    return this.events.find(fits) as StreamedEvent;
  }

  /** Resolves once the condition holds; checked whenever something arrives. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const arrival = new Promise<void>((resolve) => this.watchers.add(resolve));
      await Promise.race([arrival, this.ended.then(() => Promise.reject(new Error('the stream ended')))]);
    }
  }

  /** Disconnects, as a browser that is closed. */
  leave(): void {
    this.abort.abort();
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const frames = (text + chunk).split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) this.accept(frame);
      this.watchers.forEach((watch) => watch());
      this.watchers.clear();
    }
  }

  private accept(frame: string): void {
    if (frame === ': alive') this.beats += 1;
    const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(frame) ?? [];
    if (data === undefined) return;
    const event = JSON.parse(data) as StreamedEvent;
    if (event.sequence !== Number(id)) throw new Error(`event ${event.sequence} under the id ${id}`);
    this.events.push(event);
  }
}

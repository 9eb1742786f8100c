import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from './eventually.js';
import type { LinkedChannel } from './running-stack.js';
import type { VirtualPhone } from './simulated-network.js';
import type { WebhookReceiver } from './webhook-receiver.js';

/** One send of a channel and the answer to it. */
export interface TriedSend {
  channelId: string;
  text: string;
  beganAtMs: number;
  tookMs: number;
  status: number;
  retryAfter: string | undefined;
  /** Of a refusal: why. */
  details: string | undefined;
}

export interface TrafficOptions {
  channels: readonly LinkedChannel[];
  /** Writes to every channel and receives from every channel. */
  friend: VirtualPhone;
  /** The webhook of every channel. */
  hook: WebhookReceiver;
  /** Pause of each channel and of the friend between two messages. */
  everyMs: number;
}

/** The outcome of some traffic. Every list is empty when all promises were kept. */
export interface Broken {
  /** Accepted with 2xx and not on the friend's phone. */
  lostSends: string[];
  /** More than once on the friend's phone. */
  doubledSends: string[];
  /** Answered with 503, which promises that nothing was sent, and sent. */
  sentAfterRefusal: string[];
  /** Answered with something else than 2xx, 502 or 503. */
  strangeAnswers: TriedSend[];
  /** Written by the friend and never delivered to the webhook. */
  undelivered: string[];
  /** Delivered to the webhook under more than one message id or event id. */
  deliveredTwice: string[];
  /** On the friend's phone and not readable there. */
  unreadable: string[];
}

interface DeliveredMessage {
  id: string;
  from_me: boolean;
  text?: { body: string };
}

interface Answer {
  error?: { details?: string };
}

let runs = 0;

/** Light traffic both ways over some channels, one message at a time each, and a record of it. */
export class Traffic {
  readonly sends: TriedSend[] = [];
  readonly written: string[] = [];
  private readonly run = (runs += 1);
  private readonly stopping = new AbortController();
  private readonly lanes: Promise<void>[] = [];

  constructor(private readonly options: TrafficOptions) {}

  start(): this {
    this.lanes.push(...this.options.channels.map((channel) => this.talk(channel)), this.write());
    return this;
  }

  /** Resolves when each of the channels had a send accepted that began after this call. */
  async flows(channels = this.options.channels, withinMs = 40_000): Promise<void> {
    const fromMs = Date.now();
    await eventually(
      () => {
        const accepted = this.sends.filter(({ beganAtMs, status }) => beganAtMs >= fromMs && status === 200);
        const served = new Set(accepted.map(({ channelId }) => channelId));
        return Promise.resolve(channels.every(({ id }) => served.has(id)));
      },
      { what: 'every channel sends', withinMs },
    );
  }

  /** Begins nothing more; resolves when everything that had begun was answered. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.lanes);
  }

  /** Waits until what was promised is there, then compares the record with what arrived. */
  async broken(): Promise<Broken> {
    const { friend } = this.options;
    const accepted = this.sends.filter(({ status }) => status < 300).map(({ text }) => text);
    const arrives = async (): Promise<boolean> => {
      const received = new Set((await friend.messages()).map(({ text }) => text));
      return (
        accepted.every((text) => received.has(text)) && this.written.every((text) => this.deliveriesOf(text).length > 0)
      );
    };
    // What does not arrive in time is listed below, by name.
    await eventually(arrives, { what: 'all traffic arrives', withinMs: 30_000 }).catch(() => undefined);
    const counts = new Map<string, number>();
    for (const { text, fromMe } of await friend.messages()) {
      if (!fromMe && text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    const times = (text: string): number => counts.get(text) ?? 0;
    return {
      lostSends: accepted.filter((text) => times(text) === 0),
      doubledSends: this.sends.map(({ text }) => text).filter((text) => times(text) > 1),
      sentAfterRefusal: this.sends.flatMap(({ text, status }) => (status === 503 && times(text) > 0 ? [text] : [])),
      strangeAnswers: this.sends.filter(({ status }) => ![200, 502, 503].includes(status)),
      undelivered: this.written.filter((text) => this.deliveriesOf(text).length === 0),
      deliveredTwice: this.written.filter((text) => new Set(this.deliveriesOf(text)).size > 1),
      unreadable: await friend.unreadable(),
    };
  }

  private async talk({ id, client }: LinkedChannel): Promise<void> {
    for (let count = 1; !this.stopping.signal.aborted; count += 1) {
      const text = `run ${this.run}: ${id} sends ${count}`;
      const beganAtMs = Date.now();
      const message = { to: this.options.friend.phone, body: text };
      const { status, headers, body } = await client.post<Answer>('/messages/text', message);
      const tookMs = Date.now() - beganAtMs;
      const retryAfter = headers['retry-after']?.toString();
      this.sends.push({ channelId: id, text, beganAtMs, tookMs, status, retryAfter, details: body.error?.details });
      await this.pause();
    }
  }

  private async write(): Promise<void> {
    const { channels, friend } = this.options;
    for (let count = 1; !this.stopping.signal.aborted; count += 1) {
      const to = channels[count % channels.length];
      const text = `run ${this.run}: to ${to?.id} ${count}`;
      await friend.send(to?.phone.phone ?? '', text);
      this.written.push(text);
      await this.pause();
    }
  }

  private async pause(): Promise<void> {
    await delay(this.options.everyMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  /** Under which ids a text was delivered: repeated calls carry the same. */
  private deliveriesOf(text: string): string[] {
    return this.options.hook.calls.flatMap(({ headers, body }) =>
      ((body['messages'] as DeliveredMessage[] | undefined) ?? [])
        .filter((message) => !message.from_me && message.text?.body === text)
        .map(({ id }) => `${id} ${String(headers['webhook-id'])}`),
    );
  }
}

/** A record without a fault. */
export const NOTHING_BROKEN: Broken = {
  lostSends: [],
  doubledSends: [],
  sentAfterRefusal: [],
  strangeAnswers: [],
  undelivered: [],
  deliveredTwice: [],
  unreadable: [],
};

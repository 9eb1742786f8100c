/**
 * Traffic both ways, and the oracle of it: every send of a channel is numbered and repeated under its `Idempotency-Key` until it
 * is accepted, as careful customers do; a phone writes numbered texts to every channel. In the end each of them must be there once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LinkedChannel, World } from '@dormouse/bench/world';
import type { Delivery, Receiver } from './receiver.js';

export interface TrafficOptions {
  world: World;
  /** Of the edge. */
  edgeUrl: string;
  channels: readonly LinkedChannel[];
  receiver: Receiver;
  /** Pause of each channel between two sends, and of the phone between two texts. */
  everyMs: number;
}

export interface TriedSend {
  channelId: string;
  text: string;
  beganAtMs: number;
  /** Of each attempt; 0: no answer at all. */
  statuses: number[];
  /** Undefined: never. */
  acceptedAtMs?: number;
}

export interface Written {
  channelId: string;
  text: string;
  atMs: number;
}

/** What became of some traffic; every list is empty when all promises were kept. */
/** A time that is lost with what was stored in it; epoch milliseconds. */
export interface Gap {
  fromMs: number;
  toMs: number;
}

export interface Outcome {
  /** Accepted, and not on the phone. */
  lostSends: string[];
  /** More than once on the phone. */
  doubledSends: string[];
  /** Never accepted, with what was answered. */
  unaccepted: string[];
  /** Written by the phone, never delivered to the webhook. */
  undelivered: string[];
  /** Delivered under more than one event. */
  deliveredTwice: string[];
  /** First deliveries that were not in the order of their numbers. */
  disordered: string[];
  /** How many texts were stored, and so delivered, after one that was written later: the network gives what it repeats in its own order. */
  overtaken: number;
  /** How many texts were written in the time that may be lost, and what became of them; they are in none of the lists. */
  writtenInGap: number;
  lostInGap: number;
  doubledInGap: number;
}

const REPEAT_AFTER_MS = 250;
const ANSWER_WITHIN_MS = 40_000;
const ARRIVES_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 100;

export class Traffic {
  readonly sends: TriedSend[] = [];
  readonly written: Written[] = [];
  private readonly stopping = new AbortController();
  private readonly lanes: Promise<void>[] = [];
  private edgeUrl: string;

  private constructor(
    private readonly options: TrafficOptions,
    /** The number of the phone that everything goes to and comes from. */
    readonly friend: string,
  ) {
    this.edgeUrl = options.edgeUrl;
  }

  static async start(options: TrafficOptions): Promise<Traffic> {
    const traffic = new Traffic(options, await options.world.newPhone());
    const { channels } = options;
    traffic.lanes.push(...channels.map((channel) => traffic.talk(channel)), traffic.write());
    for (const lane of traffic.lanes) lane.catch(() => undefined); // stop reports it
    await traffic.servedAfterMs(Date.now());
    return traffic;
  }

  /**
   * Resolves when each channel had a send accepted that began after this moment.
   * @param fromMs epoch milliseconds
   * @returns milliseconds from that moment until the last of them was
   */
  async servedAfterMs(fromMs: number, channels = this.options.channels, withinMs = ARRIVES_WITHIN_MS): Promise<number> {
    const accepted = (channelId: string): TriedSend | undefined =>
      this.sends.find((send) => send.channelId === channelId && send.beganAtMs >= fromMs && send.acceptedAtMs);
    await until('every channel sends again', withinMs, () => channels.every(({ id }) => accepted(id)));
    return Math.max(...channels.map(({ id }) => (accepted(id)?.acceptedAtMs ?? Number.NaN) - fromMs));
  }

  /** Requests go to another edge from now on. */
  moveTo(edgeUrl: string): void {
    this.edgeUrl = edgeUrl;
  }

  /** Begins nothing more, and waits for nothing. */
  abandon(): void {
    this.stopping.abort();
  }

  /** Begins nothing more; resolves when everything that had begun is accepted. @throws what ended a lane */
  async stop(): Promise<void> {
    this.abandon();
    await Promise.all(this.lanes);
  }

  /** Sends again, under the same key, what was accepted in a time (epoch milliseconds). @returns how many */
  async repeatAccepted(fromMs: number, toMs: number): Promise<number> {
    const again = this.sends.filter(({ acceptedAtMs = 0 }) => acceptedAtMs >= fromMs && acceptedAtMs < toMs);
    for (const send of again) {
      const channel = this.options.channels.find(({ id }) => id === send.channelId);
      if (channel) await this.untilAccepted(channel, send);
    }
    return again.length;
  }

  /** Resolves when what the phone has written in a time (epoch milliseconds) is delivered. */
  async delivered(fromMs: number, toMs: number): Promise<void> {
    const texts = this.written.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ text }) => text);
    await until('what was written is delivered', ARRIVES_WITHIN_MS, () => {
      const arrived = new Set(this.options.receiver.deliveries.map(({ text }) => text));
      return texts.every((text) => arrived.has(text));
    });
  }

  /** How many answers were of this status; 0: attempts without any. */
  answered(status: number): number {
    return this.sends.flatMap(({ statuses }) => statuses).filter((one) => one === status).length;
  }

  /**
   * Waits until everything is where it should be, then compares. Call after {@link stop}.
   * @param gap what was written in this time is counted apart
   */
  async outcome(gap: Gap = { fromMs: 0, toMs: 0 }): Promise<Outcome> {
    const { receiver, world } = this.options;
    const inGap = this.written.filter(({ atMs }) => atMs >= gap.fromMs && atMs < gap.toMs);
    const kept = this.written.filter((each) => !inGap.includes(each));
    const gapTexts = new Set(inGap.map(({ text }) => text));
    let counts = new Map<string, number>();
    const arrived = async (): Promise<boolean> => {
      counts = countsOf(await world.textsOf(this.friend));
      const delivered = new Set(receiver.deliveries.map(({ text }) => text));
      const isThere = ({ text, acceptedAtMs }: TriedSend): boolean => !acceptedAtMs || counts.has(text);
      return this.sends.every(isThere) && kept.every(({ text }) => delivered.has(text));
    };
    // What does not arrive in time is listed by name.
    await until('all traffic has arrived', ARRIVES_WITHIN_MS, arrived).catch(() => undefined);
    const times = (text: string): number => counts.get(text) ?? 0;
    const lost = deliveryFaults(
      inGap,
      receiver.deliveries.filter(({ text }) => gapTexts.has(text)),
    );
    return {
      lostSends: this.sends.flatMap(({ text, acceptedAtMs }) => (acceptedAtMs && times(text) === 0 ? [text] : [])),
      doubledSends: this.sends.flatMap(({ text }) => (times(text) > 1 ? [`${text}: ${times(text)} times`] : [])),
      unaccepted: this.sends.flatMap(({ text, statuses, acceptedAtMs }) =>
        acceptedAtMs ? [] : [`${text}: ${statuses.join(', ')}`],
      ),
      ...deliveryFaults(
        kept,
        receiver.deliveries.filter(({ text }) => !gapTexts.has(text)),
      ),
      writtenInGap: inGap.length,
      lostInGap: lost.undelivered.length,
      doubledInGap: new Set(lost.deliveredTwice).size,
    };
  }

  private async talk(channel: LinkedChannel): Promise<void> {
    for (let count = 1; !this.stopping.signal.aborted; count += 1) {
      const text = `${channel.id} sends ${count}`;
      const send: TriedSend = { channelId: channel.id, text, beganAtMs: Date.now(), statuses: [] };
      this.sends.push(send);
      await this.untilAccepted(channel, send);
      await this.pause(this.options.everyMs);
    }
  }

  /** One request, repeated until it is accepted or something is wrong with it. */
  private async untilAccepted({ token }: LinkedChannel, send: TriedSend): Promise<void> {
    for (let isOpen = true; isOpen;) {
      const status = await this.post(token, send.text).catch(() => 0);
      send.statuses.push(status);
      if (status === 200) send.acceptedAtMs = Date.now();
      isOpen = [0, 429, 502, 503].includes(status);
      if (isOpen) await delay(REPEAT_AFTER_MS);
      // A drill that ends does not wait for what cannot be accepted any more.
      if (this.stopping.signal.aborted && Date.now() - send.beganAtMs > ARRIVES_WITHIN_MS) return;
    }
  }

  private async post(token: string, text: string): Promise<number> {
    const response = await fetch(`${this.edgeUrl}/messages/text`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': text },
      body: JSON.stringify({ to: this.friend, body: text }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    await response.arrayBuffer();
    return response.status;
  }

  private async write(): Promise<void> {
    const { channels, world, everyMs } = this.options;
    for (let count = 1; !this.stopping.signal.aborted; count += 1) {
      const to = channels[count % channels.length];
      if (!to) throw new Error('traffic needs a channel');
      const text = `to ${to.id}: ${count}`;
      this.written.push({ channelId: to.id, text, atMs: Date.now() });
      await world.sendFromPhone(this.friend, to.phone, text);
      await this.pause(everyMs);
    }
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** What is wrong with deliveries, given what was written in which order. */
export function deliveryFaults(
  written: readonly Pick<Written, 'channelId' | 'text'>[],
  deliveries: readonly Delivery[],
): Pick<Outcome, 'undelivered' | 'deliveredTwice' | 'disordered' | 'overtaken'> {
  const first = new Map<string, Delivery>();
  const deliveredTwice: string[] = [];
  for (const each of deliveries) {
    const before = first.get(each.text);
    if (!before) first.set(each.text, each);
    else if (before.eventId !== each.eventId) deliveredTwice.push(each.text);
  }
  const disordered: string[] = [];
  let overtaken = 0;
  for (const id of new Set(written.map(({ channelId }) => channelId))) {
    const places = new Map(
      written.filter(({ channelId }) => channelId === id).map(({ text }, place): [string, number] => [text, place]),
    );
    let [sequence, place] = [0, -1];
    for (const each of [...first.values()].filter(({ text }) => places.has(text))) {
      if (each.sequence < sequence) disordered.push(`${each.text}: number ${each.sequence} after ${sequence}`);
      const at = places.get(each.text) ?? 0;
      if (at < place) overtaken += 1;
      [sequence, place] = [Math.max(sequence, each.sequence), Math.max(place, at)];
    }
  }
  const undelivered = written.flatMap(({ text }) => (first.has(text) ? [] : [text]));
  return { undelivered, deliveredTwice, disordered, overtaken };
}

/** @throws when it is not so in time */
export async function until(what: string, withinMs: number, isSo: () => unknown): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadlineMs) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await delay(LOOK_EVERY_MS);
  }
}

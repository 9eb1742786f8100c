/**
 * The network's acknowledgements of messages. Baileys emits a refusal only sometimes and an acceptance never, so
 * they are read from the wire (`<ack class="message" id t [error]/>`).
 */
import { GatewayError } from '@dormouse/gateway-contract';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { deferred } from './deferred.js';
import type { MessageAck } from './open-session.js';

interface Expected {
  promise: Promise<MessageAck>;
  settle: (ack: MessageAck) => void;
  fail: (error: GatewayError) => void;
}

export class MessageAcks {
  private readonly expected = new Map<string, Expected>();
  private over = false;

  constructor(
    private readonly waitMs: number,
    private readonly onAck: (ack: MessageAck) => void = () => undefined,
  ) {}

  /**
   * @param written when the message is on the wire: the wait begins then, because a first message to a large group is
   * encrypted for longer than the network takes to answer
   * @throws {GatewayError} 502 after the wait, or when the connection ends first: it may have been sent
   */
  expect(messageId: string, written: Promise<unknown>): Promise<MessageAck> {
    if (this.over) return Promise.reject(unconfirmed('the connection dropped'));
    const known = this.expected.get(messageId);
    if (known) return known.promise;
    const entry = this.add(messageId, written);
    entry.promise.catch(() => undefined); // a caller that failed to send will not look at it any more
    return entry.promise;
  }

  awaits(messageId: string): boolean {
    return this.expected.has(messageId);
  }

  /** Takes in one ack stanza. */
  receive({ attrs }: BinaryNode): void {
    const timestampS = Number(attrs['t']);
    const ack: MessageAck = {
      ...(attrs['error'] === undefined ? {} : { error: attrs['error'] }),
      ...(Number.isFinite(timestampS) ? { timestampS } : {}),
    };
    const entry = attrs['id'] === undefined ? undefined : this.expected.get(attrs['id']);
    if (!entry) return;
    entry.settle(ack);
    this.onAck(ack);
  }

  /** The connection has ended: nothing more will be received. */
  end(): void {
    this.over = true;
    for (const { fail } of [...this.expected.values()]) fail(unconfirmed('the connection dropped'));
  }

  private add(messageId: string, written: Promise<unknown>): Expected {
    const { promise, resolve, reject } = deferred<MessageAck>();
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      this.expected.delete(messageId);
    };
    const fail = (error: GatewayError): void => {
      done();
      reject(error);
    };
    const settle = (ack: MessageAck): void => {
      done();
      resolve(ack);
    };
    const entry = { promise, settle, fail };
    this.expected.set(messageId, entry);
    const begin = (): void => {
      if (this.expected.get(messageId) !== entry) return; // the answer was faster
      timer = setTimeout(() => fail(unconfirmed('the network did not answer in time')), this.waitMs);
    };
    void written.then(begin, begin); // what failed may have failed after the words were out
    return entry;
  }
}

function unconfirmed(why: string): GatewayError {
  return new GatewayError(502, { details: `${why}: the message may have been sent` });
}

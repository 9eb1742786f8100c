/**
 * Holds back the socket's frames to the network until what they rest on is durable.
 *
 * What it guarantees: from `hold(write)` on, no frame leaves before `write` has ended well, and the order of frames
 * stays; if it fails, nothing leaves any more and the senders get the error. This is how "credentials are durable before the
 * network is answered" holds although Baileys emits `creds.update` and answers at once.
 */

/** The part of a WebSocket that frames go through. */
export interface FrameSender {
  send(frame: Uint8Array, sent?: (error?: Error) => void): void;
}

export class OutboundFrameGate {
  private closed: Promise<void> | undefined;

  /** Nothing leaves before `write` has ended well. */
  hold(write: Promise<unknown>): void {
    this.queue(write);
  }

  /** Sends all later frames of this sender through the gate. */
  guard(sender: FrameSender): void {
    const send = sender.send.bind(sender);
    sender.send = (frame, sent) => {
      if (!this.closed) return send(frame, sent);
      this.closed.then(
        () => send(frame, sent),
        (error: unknown) => sent?.(error instanceof Error ? error : new Error(String(error))),
      );
      this.queue(this.closed); // frames that come later queue up behind this one
    };
  }

  private queue(write: Promise<unknown>): void {
    const closed = Promise.all([this.closed, write]).then(() => {
      if (this.closed === closed) this.closed = undefined;
    });
    closed.catch(() => undefined); // thrown to each sender
    this.closed = closed;
  }
}

import type { ErrorReply } from '@dormouse/gateway-contract';

/** A command as it lies in its shard's lists, as JSON. */
export interface CommandJob {
  /** The caller's own name for this call, unlike any other's; the reply carries it. */
  callId: string;
  /** Of the catalogue. */
  name: string;
  /** Whose reply channel the answer is published on. */
  clientId: string;
  channelId: string;
  /** Epoch milliseconds of the call, by the caller's clock. */
  calledAt: number;
  input: unknown;
  /** Epoch milliseconds: a worker that has not started the command by then never does. */
  startBy: number;
  requestId: string;
  /** Of a send that may be repeated: see `CallOptions`. */
  sendAs?: string;
}

/** The outcome of a command as a value. */
export type CommandReply = { ok: true; result: unknown } | { ok: false; error: ErrorReply };

/** What is published on the caller's reply channel. */
export interface ReplyMessage {
  callId: string;
  reply: CommandReply;
}

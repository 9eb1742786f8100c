import type { ErrorReply } from '@dormouse/gateway-contract';

/** What a command's job holds. */
export interface CommandJob {
  /** The caller's own name for this call; the reply carries it. */
  callId: string;
  /** Whose reply channel the answer is published on. */
  clientId: string;
  channelId: string;
  input: unknown;
  /** Epoch milliseconds: a worker that has not started the command by then never does. */
  startBy: number;
  requestId: string;
  /** Of a send that may be repeated: see `CallOptions`. */
  sendAs?: string;
}

/** The outcome of a command as a value: a BullMQ failure could carry only a string. */
export type CommandReply = { ok: true; result: unknown } | { ok: false; error: ErrorReply };

/** What is published on the caller's reply channel. */
export interface ReplyMessage {
  callId: string;
  reply: CommandReply;
}

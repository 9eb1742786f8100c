import type { ErrorReply } from '@dormouse/gateway-contract';

/** Contents of a command's job. */
export interface CommandJob {
  /** See `message-form.ts`; absent: from before forms had numbers. */
  form?: number;
  /** Of the command in its caller's catalogue: see `CommandSpec`. Absent: 1. */
  revision?: number;
  /** Identifies the call at its caller; the reply carries it. */
  callId: string;
  /** The caller, whose reply channel the reply is published on. */
  clientId: string;
  channelId: string;
  input: unknown;
  /** Epoch milliseconds: a worker that has not started the command by then never does. */
  startBy: number;
  requestId: string;
  /** Of a send that may be repeated: see `CallOptions`. */
  sendAs?: string;
  /** The trace that it is a part of, as W3C `traceparent`. */
  traceparent?: string;
}

/** The outcome of a command as a value: a BullMQ failure could carry only a string. */
export type CommandReply = { ok: true; result: unknown } | { ok: false; error: ErrorReply };

/** What is published on the caller's reply channel. */
export interface ReplyMessage {
  /** See `message-form.ts`; absent: from before forms had numbers. */
  form?: number;
  callId: string;
  reply: CommandReply;
}

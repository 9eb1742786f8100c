/**
 * The form of jobs and replies: which fields there are, and what they mean. Apps of two releases run beside each other during every
 * upgrade, so each message carries its form.
 *
 * Guarantees:
 * - A reader takes every form up to its own, also a message without one (0: from before forms had numbers), and ignores fields that it
 *   does not know.
 * - A job of a later form is never run: its caller gets 503, nothing was done. A reply is written in the form of its job, so that
 *   its caller can read it.
 * - `callId`, `clientId` and `startBy` of a job, and `form` and `callId` of a reply, keep their meaning in every form: without them
 *   nothing could be refused.
 * What a change needs is written in docs/versions.md.
 */
import type { ReplyMessage } from './command-job.js';

/** The form that this version writes, and the latest that it reads. */
export const MESSAGE_FORM = 1;

/** Whether a job or a reply of this form can be read here. */
export function isReadable(form = 0): boolean {
  return form <= MESSAGE_FORM;
}

/** The form of the reply to a job: never later than its caller reads. */
export function replyForm(jobForm = 0): number {
  return Math.min(jobForm, MESSAGE_FORM);
}

/** A published reply; undefined for what is none, which belongs to no call. */
export function parseReply(text: string): ReplyMessage | undefined {
  try {
    const message = JSON.parse(text) as Partial<ReplyMessage> | null;
    return typeof message?.callId === 'string' ? (message as ReplyMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** What all kinds of sends have in common: recipient, quoted message, typing indicator, context. */
import type { SentMessage } from '@dormouse/gateway-contract';
import type { MessageContext } from '../../convert/message-bytes.js';
import { contextToNetwork, shownContext } from '../../convert/message-to-network.js';
import type { Composed } from '../../convert/plain-to-network.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { CommandContext } from '../command-context.js';
import { findMessage } from './find-message.js';
import { findRecipient } from './recipient.js';
import type { MessageTools } from './message-tools.js';
import { sendMessage } from './send-message.js';

/** The fields of every send. */
export interface SendOptions {
  to: string;
  quoted?: string | undefined;
  edit?: string | undefined;
  mentions?: readonly string[] | undefined;
  typing_time?: number | undefined;
  /** Of voice messages: shows "recording" instead. */
  recording_time?: number | undefined;
  ephemeral?: number | undefined;
}

/** Makes the content with a context (quote, mentions, lifetime). */
export type Compose = (contextInfo: MessageContext | undefined) => Composed | Promise<Composed>;

/**
 * Sends one message of any kind.
 * @throws {GatewayError} 404 for an unknown quote or a group the channel is not in; 403 where only admins write; what a
 * refusal of the network means (`network-errors.ts`)
 */
export async function composeAndSend(
  context: CommandContext,
  tools: MessageTools,
  options: SendOptions,
  compose: Compose,
): Promise<SentMessage> {
  const session = context.session();
  const to = await findRecipient(session, tools, options.to);
  const quoted = options.quoted === undefined ? undefined : await findMessage(context, tools, options.quoted, 'quoted');
  const people = { own: session.identity, numbers: new Map<string, string>() };
  const { mentions, ephemeral = to.timer?.seconds } = options;
  const timerSetAtS = options.ephemeral === undefined ? to.timer?.setAtS : undefined;
  const around = { mentions, quoted, ephemeral, timerSetAtS };
  const { content, shown } = await compose(contextToNetwork(around, people));
  await showIndicator(context, tools, to.jid, options);
  const shownAround = shownContext(around);
  return sendMessage(context, tools, {
    to,
    content,
    shown: { ...shown, ...(shownAround && { context: { ...shown.context, ...shownAround } }) },
  });
}

/**
 * Checks that a message could be sent, before work is done for it.
 * @throws {GatewayError} 404 for an unknown quote or a group the channel is not in; 403 where only admins write
 */
export async function assertSendable(
  session: OpenSession,
  tools: Pick<MessageTools, 'reader' | 'writer' | 'timers' | 'numbers'>,
  options: Pick<SendOptions, 'to' | 'quoted'>,
): Promise<void> {
  await findRecipient(session, tools, options.to);
  if (options.quoted !== undefined) await findMessage(session, tools, options.quoted, 'quoted');
}

/** Shows "typing" or "recording" for some seconds. The message follows in the same turn of the channel's lane. */
async function showIndicator(
  context: CommandContext,
  tools: MessageTools,
  jid: string,
  { typing_time: typingS = 0, recording_time: recordingS = 0 }: SendOptions,
): Promise<void> {
  const { profile } = context.session().network;
  for (const [shown, seconds] of [
    ['typing', typingS],
    ['recording', recordingS],
  ] as const) {
    if (seconds === 0) continue;
    await profile.showInChat(jid, shown);
    await tools.wait(seconds * 1_000);
    await profile.showInChat(jid, 'pause');
  }
}

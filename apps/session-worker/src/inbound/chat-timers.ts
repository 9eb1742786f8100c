import { GROUP_SUFFIX, type Message } from '@dormouse/gateway-contract';
import type { ChatRecord } from '@dormouse/message-store/write';
import type { InboundContext } from './inbound-context.js';

/**
 * What messages show of how long those of their chat stay: a change of the timer, by either side, or a message that will
 * disappear. One that will not shows nothing: older programs send such. Groups have it among their facts.
 */
export function timerShownBy(message: Message): ChatRecord | undefined {
  const { chat_id: id, action, context, timestamp: setAtS } = message;
  if (id.endsWith(GROUP_SUFFIX)) return undefined;
  if (action?.type === 'ephemeral') return { id, timer: { seconds: Number(action.ephemeral ?? 0), setAtS } };
  const seconds = context?.ephemeral;
  return seconds === undefined || seconds <= 0 ? undefined : { id, timer: { seconds, setAtS } };
}

/** Takes the timers over at once, for what is sent from now on; returns those that are news, to be stored. */
export function learnTimers(
  { session, timers }: Pick<InboundContext, 'session' | 'timers'>,
  messages: readonly Message[],
): ChatRecord[] {
  return messages.flatMap((message) => {
    const shown = timerShownBy(message);
    return shown?.timer && timers.learn(session, shown.id, shown.timer) ? [shown] : [];
  });
}

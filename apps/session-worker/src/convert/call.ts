import type { CallEvent } from '@dormouse/gateway-contract';
import type { WACallEvent } from '@whiskeysockets/baileys';
import { isGroup, bareJid, personChatId } from './jid.js';
import type { People } from './people.js';

/**
 * Statuses of calls by the network's states; states that are not listed are not reported. `terminate` comes when the
 * caller gives up and when an answered call ends.
 */
const STATUSES: Partial<Record<WACallEvent['status'], CallEvent['status']>> = {
  offer: 'initiated',
  ringing: 'ringing',
  accept: 'answered',
  reject: 'canceled',
  timeout: 'missed',
  terminate: 'missed',
};

/**
 * A state of a call as customers see it.
 * @param answered the call was answered before; its end is not reported
 * @returns undefined for a state that is not reported
 */
export function callFromNetwork(received: WACallEvent, people: People, answered: boolean): CallEvent | undefined {
  const status = STATUSES[received.status];
  if (status === undefined || (received.status === 'terminate' && answered)) return undefined;
  const from = personChatId([received.callerPn, received.from, received.chatId], people.numbers);
  if (from === undefined) return undefined;
  const group = [received.groupJid, received.chatId].find((jid) => isGroup(jid));
  return {
    id: received.id,
    from,
    chat_id: group === undefined ? from : bareJid(group),
    status,
    timestamp: received.date.getTime(),
    group_call: received.isGroup ?? false,
    video_call: received.isVideo ?? false,
    offline_call: received.offline,
    ...(received.latencyMs === undefined ? {} : { latency: received.latencyMs }),
  };
}

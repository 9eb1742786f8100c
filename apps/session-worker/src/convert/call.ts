import type { CallEvent } from '@dormouse/gateway-contract';
import type { WACallEvent } from '@whiskeysockets/baileys';
import { isGroup, bareJid, personChatId } from './jid.js';
import type { People } from './people.js';

/** What a state of the network is called, if it is told. `terminate` is the caller's giving up, or the end of a talk. */
const STATUSES: Partial<Record<WACallEvent['status'], CallEvent['status']>> = {
  offer: 'initiated',
  ringing: 'ringing',
  accept: 'answered',
  reject: 'canceled',
  timeout: 'missed',
  terminate: 'missed',
};

/**
 * A state of a call as customers see it; undefined for what is not told.
 * @param answered somebody has taken the call: its end is nobody's news
 */
export function callFromNetwork(heard: WACallEvent, people: People, answered: boolean): CallEvent | undefined {
  const status = STATUSES[heard.status];
  if (status === undefined || (heard.status === 'terminate' && answered)) return undefined;
  const from = personChatId([heard.callerPn, heard.from, heard.chatId], people.numbers);
  if (from === undefined) return undefined;
  const group = [heard.groupJid, heard.chatId].find((jid) => isGroup(jid));
  return {
    id: heard.id,
    from,
    chat_id: group === undefined ? from : bareJid(group),
    status,
    timestamp: heard.date.getTime(),
    group_call: heard.isGroup ?? false,
    video_call: heard.isVideo ?? false,
    offline_call: heard.offline,
    ...(heard.latencyMs === undefined ? {} : { latency: heard.latencyMs }),
  };
}

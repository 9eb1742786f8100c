import type { Network } from '../network/network.js';
import { isGroupJid } from '../wire/jid.js';

/** The name under which a phone stores a chat: people by number, whatever the name on the wire. */
export function chatName(network: Network, jid: string): string {
  if (isGroupJid(jid)) return jid;
  return network.accounts.find(jid)?.phoneJid ?? jid;
}

import { formatJid, LID_SERVER } from '../wire/jid.js';
import { node, type Node } from '../wire/node.js';
import type { Account } from './account.js';
import type { Network } from './network.js';

/** Who sends: a phone (device 0) or one of its companions. */
export interface Sender {
  account: Account;
  device: number;
}

/** What of a sent message's attributes the receivers see as well. */
const PASSED_ON = ['type', 'edit', 'addressing_mode', 'expiration', 'mediatype'] as const;

/** The attributes that every receiver of a message sees alike. */
export function messageBasics(network: Network, sender: Sender, stanza: Node): Record<string, string> {
  const attrs: Record<string, string> = {
    id: stanza.attrs['id'] ?? '',
    t: network.timestamp(),
    notify: sender.account.name,
  };
  for (const name of PASSED_ON) {
    const value = stanza.attrs[name];
    if (value !== undefined) attrs[name] = value;
  }
  return attrs;
}

/**
 * What a device gets of a message. What is to be seen once is for phones alone, linked devices get a notice of it (whatsmeow,
 * types/events: UnavailableTypeViewOnce). The server cannot see that a message is such a one: the sending phone marks it.
 */
export function contentFor(device: number, stanza: Node, content: Node[]): Node[] {
  return device !== 0 && stanza.attrs['view_once'] === 'true' ? [node('unavailable', { type: 'view_once' })] : content;
}

/** The address of a sender as stanzas to this server show it. */
export function senderJid(sender: Sender, server: string): string {
  return formatJid({
    user: server === LID_SERVER ? sender.account.lid : sender.account.phone,
    device: sender.device,
    server,
  });
}

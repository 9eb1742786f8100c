import type { Account } from '../network/account.js';
import type { Group } from '../network/group.js';
import type { Network } from '../network/network.js';
import { Refusal } from '../network/refusal.js';
import { PHONE_SERVER } from '../wire/jid.js';

/** The account of a number in a path. Throws {@link Refusal} 404 when there is none. */
export function accountOf(network: Network, phone: string): Account {
  const account = network.accounts.byNumber(phone.replace(/\D/g, ''));
  if (!account) throw new Refusal(404, `There is no phone ${phone}.`);
  return account;
}

/** A group by its id or address. Throws {@link Refusal} 404 when there is none. */
export function groupOf(network: Network, id: string): Group {
  const group = network.groups.find(id);
  if (!group) throw new Refusal(404, `There is no group ${id}.`);
  return group;
}

/** A chat as callers write it (digits, `+digits` or an address) as an address. */
export function chatJid(chat: string): string {
  return chat.includes('@') ? chat : `${chat.replace(/\D/g, '')}@${PHONE_SERVER}`;
}

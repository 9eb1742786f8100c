import { isGroupJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { child, children, node, type Node } from '../wire/node.js';
import type { Group } from '../network/group.js';
import type { Account } from '../network/account.js';
import type { Sender } from '../network/sender.js';
import type { Network } from '../network/network.js';

/** Receipts that only confirm something to the server. */
const FOR_THE_SERVER = new Set(['sender', 'peer_msg', 'hist_sync']);
/** How many receipts and requests are remembered: those of the other devices of a reader come within moments. */
const SEEN_LIMIT = 20_000;

/** The ids a receipt is about: its own and those of its list. */
export function receiptIds(stanza: Node): string[] {
  const listed = children(child(stanza, 'list'), 'item').map((item) => item.attrs['id'] ?? '');
  return [stanza.attrs['id'] ?? '', ...listed].filter((id) => id !== '');
}

/**
 * Accepts a receipt from a device. Delivered, read and played go to all devices of who sent the message (bare `from`);
 * `read-self` only to the reader's other devices; `retry` to the very device that sent the message; `server-error` requests
 * another upload of a file from the own phone.
 */
export function routeReceipt(network: Network, reader: Sender, stanza: Node): void {
  const type = stanza.attrs['type'];
  if (type !== undefined && FOR_THE_SERVER.has(type)) return;
  const to = stanza.attrs['to'] ?? '';
  if (type === 'retry') {
    routeRetry(network, reader, stanza);
    return;
  }
  if (type === 'server-error') {
    const device = reader.account.devices.get(reader.device);
    if (device) network.phones.of(reader.account).uploadAgain(device, stanza);
    return;
  }
  if (network.faults.trigger('lose-receipts', { phone: reader.account.phone, device: reader.device })) return;
  const group = isGroupJid(to) ? network.groups.find(to) : undefined;
  const author = network.accounts.find(group ? (stanza.attrs['participant'] ?? '') : to);
  if (!author) return;
  const ids = receiptIds(stanza);
  const server = group ? groupServer(group) : parseJid(to).server;
  if (type === 'read' || type === 'read-self')
    notifyOwnDevices(network, reader, to, ids, group && author.jidLike(server));
  if (type === 'read-self' || author === reader.account) return;
  const kind = type === 'inactive' ? undefined : type;
  const fresh = ids.filter((id) => firstOfItsKind(network, author, reader.account, id, kind));
  if (fresh.length === 0) return;
  const from = reader.account.jidLike(server);
  const attrs = group ? { from: group.jid, participant: from, type: kind } : { from, type: kind };
  network.deliverToAll(author, receipt(network, attrs, fresh));
}

/** Notifies the reader's other devices that the chat is read. */
function notifyOwnDevices(network: Network, reader: Sender, chat: string, ids: string[], author?: string): void {
  const attrs =
    author === undefined
      ? { from: reader.account.jidLike(parseJid(chat).server), recipient: chat, type: 'read-self' }
      : { from: chat, participant: author, recipient: chat, type: 'read-self' };
  network.deliverToAll(reader.account, receipt(network, attrs, ids), reader.device);
}

function routeRetry(network: Network, requester: Sender, stanza: Node): void {
  const to = stanza.attrs['participant'] ?? stanza.attrs['to'] ?? '';
  const author = network.accounts.find(to);
  if (!author) return;
  network.resendsRequested.add(stanza.attrs['id'] ?? '');
  forgetOldest(network.resendsRequested, SEEN_LIMIT);
  const { server, device } = parseJid(to);
  const chat = stanza.attrs['to'] ?? '';
  network.log.debug(
    {
      phone: requester.account.phone,
      device: requester.device,
      id: stanza.attrs['id'],
      author: author.jidLike(PHONE_SERVER, device),
      count: child(stanza, 'retry')?.attrs['count'],
    },
    'another copy is requested',
  );
  const from = requester.account.jidLike(server === LID_SERVER ? LID_SERVER : PHONE_SERVER, requester.device);
  const attrs: Record<string, string | undefined> = {
    id: stanza.attrs['id'],
    type: 'retry',
    t: network.timestamp(),
    ...(isGroupJid(chat) ? { from: chat, participant: from } : { from }),
    recipient: stanza.attrs['recipient'],
  };
  network.deliver(author, device, node('receipt', attrs, children(stanza)));
}

function receipt(
  network: Network,
  attrs: { from: string; type?: string | undefined; recipient?: string; participant?: string },
  ids: string[],
): Node {
  const [first = '', ...others] = ids;
  const list = others.map((id) => node('item', { id }));
  return node(
    'receipt',
    { ...attrs, id: first, t: network.timestamp() },
    list.length > 0 ? [node('list', {}, list)] : undefined,
  );
}

/** A reader with several devices delivers once. */
function firstOfItsKind(
  network: Network,
  author: Account,
  reader: Account,
  id: string,
  type: string | undefined,
): boolean {
  const key = `${author.lid}|${reader.lid}|${id}|${type ?? 'delivered'}`;
  if (network.receiptsSeen.has(key)) return false;
  network.receiptsSeen.add(key);
  forgetOldest(network.receiptsSeen, SEEN_LIMIT);
  return true;
}

function groupServer(group: Group): string {
  return group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER;
}

function forgetOldest(set: Set<string>, limit: number): void {
  if (set.size <= limit) return;
  const [oldest] = set;
  if (oldest !== undefined) set.delete(oldest);
}

import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { receiptIds } from '../delivery/receipts.js';
import { isGroupJid, parseJid } from '../wire/jid.js';
import { bytesOf, child, node, numberOf, type Node } from '../wire/node.js';
import { decodeContent, encodeContent, isViewOnce, stanzaType } from './content.js';
import type { MessageStatus } from './message-log.js';
import type { PhoneContext } from './phone-context.js';
import { bundleOf, pad, type DeviceAddress, type KeyBundle } from './signal.js';

const STATUS_OF: Record<string, MessageStatus> = { '': 'delivered', read: 'read', played: 'played' };

/** A receipt reaches the phone: a message got further, a chat was read on a companion, or a copy is requested. */
export async function receiveReceipt(phone: PhoneContext, stanza: Node): Promise<void> {
  const type = stanza.attrs['type'] ?? '';
  if (type === 'retry') {
    await sendAgain(phone, stanza);
    return;
  }
  const self = type === 'read-self';
  const status = self ? 'read' : STATUS_OF[type];
  if (!status) return;
  for (const id of receiptIds(stanza)) {
    const message = phone.messages.get(id);
    if (message && message.fromMe !== self) phone.messages.advance(message, status);
  }
}

/** Somebody could not read a message of ours: the same message again under the same id, in a new session. */
async function sendAgain(phone: PhoneContext, stanza: Node): Promise<void> {
  const id = stanza.attrs['id'] ?? '';
  const message = phone.messages.get(id);
  const jid = stanza.attrs['participant'] ?? stanza.attrs['from'] ?? '';
  const account = phone.network.accounts.find(jid);
  const details = { phone: phone.account.phone, id, by: jid };
  if (!message?.fromMe || !account) {
    phone.network.log.debug(details, 'a copy is requested that the phone does not have');
    return;
  }
  phone.network.log.debug(details, 'the phone sends another copy');
  const requester: DeviceAddress = { account, device: parseJid(jid).device };
  // The earlier session is closed, not forgotten: what the requester had on its way was made in it.
  await phone.sessions.begin(requester, offeredBundle(stanza) ?? bundleOf(phone.network, requester));
  const group = isGroupJid(message.wireChat) ? message.wireChat : undefined;
  const own = account === phone.account && !group;
  const content = decodeContent(message.content);
  let plain: proto.IMessage = own
    ? { deviceSentMessage: { destinationJid: message.wireChat, message: content } }
    : content;
  if (group) plain = { ...content, senderKeyDistributionMessage: await ourKey(phone, group) };
  const enc = await phone.sessions.encrypt(requester, pad(encodeContent(plain)));
  enc.attrs['count'] = child(stanza, 'retry')?.attrs['count'] ?? '1';
  const to = group ? { to: group, participant: jid } : { to: jid, device_fanout: 'false' };
  const recipient = own ? message.wireChat : undefined;
  const once = isViewOnce(content) ? 'true' : undefined;
  const attrs = { id, type: stanzaType(content), recipient, edit: message.edit, view_once: once, ...to };
  phone.route(node('message', attrs, [enc]));
}

async function ourKey(phone: PhoneContext, group: string): Promise<proto.Message.ISenderKeyDistributionMessage> {
  return { groupId: group, axolotlSenderKeyDistributionMessage: await phone.groupSessions.ownKey(group) };
}

/** Keys that the requester sent along, so that they need not be fetched. */
function offeredBundle(stanza: Node): KeyBundle | undefined {
  const keys = child(stanza, 'keys');
  const skey = child(keys, 'skey');
  const identity = bytesOf(child(keys, 'identity'));
  if (!keys || !skey || !identity) return undefined;
  const key = child(keys, 'key');
  return {
    registrationId: numberOf(child(stanza, 'registration')) ?? 0,
    identity,
    signedPreKey: {
      id: numberOf(child(skey, 'id')) ?? 0,
      value: bytesOf(child(skey, 'value')) ?? Buffer.alloc(0),
      signature: bytesOf(child(skey, 'signature')) ?? Buffer.alloc(0),
    },
    preKey: key && { id: numberOf(child(key, 'id')) ?? 0, value: bytesOf(child(key, 'value')) ?? Buffer.alloc(0) },
  };
}

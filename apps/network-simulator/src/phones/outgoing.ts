import { randomUUID } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Group } from '../network/group.js';
import type { Account } from '../network/account.js';
import { Refusal } from '../network/refusal.js';
import { isGroupJid, LID_SERVER, parseJid, PHONE_SERVER } from '../wire/jid.js';
import { node, type Node } from '../wire/node.js';
import { takeEffect } from './effects.js';
import { describe, encodeContent, isViewOnce, stanzaType } from './content.js';
import type { PhoneMessage } from './message-log.js';
import type { PhoneContext } from './phone-context.js';
import { pad, type DeviceAddress } from './signal.js';

/** How a message is to be sent. */
export interface SendOptions {
  id?: string | undefined;
  /** `edit` attribute of the stanza (1 edit, 7 delete by the author, 8 by an admin). */
  edit?: string | undefined;
  /** The bytes of the content, when there is more in them than the library can name. */
  bytes?: Buffer | undefined;
}

/** Fields 2 of a copy and 31 of a message, both with a length in front. */
const SENT_MESSAGE_TAG = 2 * 8 + 2;
const DEVICE_SENT_TAG = 31 * 8 + 2;

export function newMessageId(): string {
  // Node draws the randomness of UUIDs in advance; asking the system for each id costs more than the id.
  return `3A${randomUUID().replaceAll('-', '').slice(-18).toUpperCase()}`;
}

/**
 * Sends content to a chat: encrypts for every device that must read it, stores it, sends it to the network.
 * Throws {@link Refusal}: 404 unknown number or group, 403 not allowed to write there, 409 id taken.
 */
export async function sendContent(
  phone: PhoneContext,
  chat: string,
  content: proto.IMessage,
  options: SendOptions,
): Promise<PhoneMessage> {
  const id = options.id ?? newMessageId();
  if (phone.messages.get(id)) throw new Refusal(409, 'A message with this id exists already.');
  const group = isGroupJid(chat) ? phone.network.groups.find(chat) : undefined;
  const recipient = group ? undefined : phone.network.accounts.find(chat);
  if (!group && (!recipient || phone.network.unknown(recipient))) {
    throw new Refusal(404, isGroupJid(chat) ? 'There is no such group.' : 'There is no such number.');
  }
  const plain = options.bytes ?? encodeContent(content);
  const message = phone.messages.add({
    id,
    chat: recipient?.phoneJid ?? chat,
    from: phone.account.phoneJid,
    fromMe: true,
    ...describe(content),
    timestamp: Number(phone.network.timestamp()),
    deliveries: 0,
    status: 'pending',
    content: plain,
    wireChat: chat,
    ...(options.edit !== undefined && { edit: options.edit }),
  });
  const viewOnce = isViewOnce(content);
  const parts = group
    ? await groupParts(phone, group, plain, viewOnce)
    : await directParts(phone, chat, recipient, plain);
  const attrs = {
    id,
    to: chat,
    type: stanzaType(content),
    edit: options.edit,
    addressing_mode: group?.state.addressing,
    view_once: viewOnce ? 'true' : undefined,
  };
  try {
    phone.route(node('message', attrs, parts));
  } catch (error) {
    phone.messages.advance(message, 'error');
    throw error;
  }
  phone.messages.advance(message, 'sent');
  takeEffect(phone, message, phone.account, content);
  return message;
}

async function directParts(
  phone: PhoneContext,
  chat: string,
  recipient: Account | undefined,
  plain: Buffer,
): Promise<Node[]> {
  const { server } = parseJid(chat);
  const parts: Node[] = [];
  const others = recipient && recipient !== phone.account ? [0, ...recipient.devices.keys()] : [];
  for (const device of others) {
    if (recipient) parts.push(await partFor(phone, { account: recipient, device }, server, plain));
  }
  const ownDevices = [...phone.account.devices.keys()];
  const sync = ownDevices.length > 0 ? deviceSent(chat, plain) : plain;
  for (const device of ownDevices) {
    parts.push(await partFor(phone, { account: phone.account, device }, server, sync));
  }
  return [node('participants', {}, parts)];
}

/** The copy for an own device: which chat it is for, and the message as it is, whatever is in it. */
function deviceSent(destinationJid: string, plain: Buffer): Buffer {
  const copy = proto.Message.DeviceSentMessage.encode({ destinationJid })
    .uint32(SENT_MESSAGE_TAG)
    .bytes(plain)
    .finish();
  return Buffer.from(proto.Message.encode({}).uint32(DEVICE_SENT_TAG).bytes(copy).finish());
}

/**
 * One ciphertext for all, and our key of the group for every device that does not have it; of a message to be seen once only
 * phones get that, as the network gives it to no other device.
 */
async function groupParts(phone: PhoneContext, group: Group, plain: Buffer, viewOnce: boolean): Promise<Node[]> {
  const { sealed, key } = await phone.groupSessions.encrypt(group.jid, pad(plain));
  const keyMessage = encodeContent({
    senderKeyDistributionMessage: { groupId: group.jid, axolotlSenderKeyDistributionMessage: key },
  });
  const server = group.state.addressing === 'lid' ? LID_SERVER : PHONE_SERVER;
  const parts: Node[] = [];
  for (const lid of group.memberLids) {
    const account = phone.network.accounts.find(`${lid}@${LID_SERVER}`);
    for (const device of account ? [0, ...account.devices.keys()] : []) {
      const name = `${lid}:${device}`;
      if (!account || (account === phone.account && device === 0) || (viewOnce && device !== 0)) continue;
      if (phone.groupSessions.hasOurKey(group.jid, name)) continue;
      parts.push(await partFor(phone, { account, device }, server, keyMessage));
      phone.groupSessions.shared(group.jid, name);
    }
  }
  const common = node('enc', { v: '2', type: 'skmsg' }, sealed);
  return parts.length > 0 ? [common, node('participants', {}, parts)] : [common];
}

async function partFor(phone: PhoneContext, to: DeviceAddress, server: string, plain: Uint8Array): Promise<Node> {
  return node('to', { jid: to.account.jidLike(server, to.device) }, [await phone.sessions.encrypt(to, pad(plain))]);
}

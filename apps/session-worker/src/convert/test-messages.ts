import type { Message } from '@dormouse/gateway-contract';
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { messageFromNetwork } from './message-from-network.js';
import type { People } from './people.js';

export const OWN = '15550009999';
export const OWN_LID = '900000000009';
export const ADA = '15550001111';
export const ADA_LID = '900000000001';
export const GROUP = '120363000000000001@g.us';
export const people: People = {
  own: { phone: OWN, lid: OWN_LID },
  numbers: new Map([
    [ADA_LID, ADA],
    ['900000000002', '15550002222'],
  ]),
};

/** A message with this content as it is received: encoded and decoded. */
export function received(content: proto.IMessage, key: Partial<WAMessage['key']> = {}): WAMessage {
  const message = proto.Message.decode(proto.Message.encode(proto.Message.fromObject(content)).finish());
  return {
    key: {
      remoteJid: `${ADA_LID}@lid`,
      remoteJidAlt: `${ADA}@s.whatsapp.net`,
      fromMe: false,
      id: 'A5C30000000000000000000000005000',
      ...key,
    },
    message,
    messageTimestamp: 1_789_999_990,
  };
}

/** The message that customers see for this content; undefined for none. */
export function shownMessage(content: proto.IMessage, key?: Partial<WAMessage['key']>): Message | undefined {
  return messageFromNetwork(received(content, key), people)?.message;
}

import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { Phone } from './phone.js';
import type { DeviceAddress } from './signal.js';

/** A companion asks its own phone for something. Nothing is answered yet but logged: see the handlers below. */
export function receivePeerMessage(
  phone: Phone,
  asker: DeviceAddress,
  id: string,
  content: proto.IMessage,
): Promise<void> {
  const request = content.protocolMessage?.peerDataOperationRequestMessage;
  phone.network.log.debug(
    { phone: phone.account.phone, device: asker.device, id, type: request?.peerDataOperationRequestType },
    'request of a companion',
  );
  return Promise.resolve();
}

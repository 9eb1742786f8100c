import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { decodeContent, isViewOnce } from './content.js';
import { webMessage } from './history-message.js';
import { keyShare, olderMessages } from './history.js';
import type { PhoneContext } from './phone-context.js';
import type { DeviceAddress } from './signal.js';

const { HISTORY_SYNC_ON_DEMAND, PLACEHOLDER_MESSAGE_RESEND } = proto.Message.PeerDataOperationRequestType;
const { Type } = proto.Message.ProtocolMessage;

/** A companion requests something of its own phone: older messages, a message it only got a placeholder of, the key. */
export async function receivePeerMessage(
  phone: PhoneContext,
  requester: DeviceAddress,
  id: string,
  content: proto.IMessage,
): Promise<void> {
  const device = phone.account.devices.get(requester.device);
  const protocol = content.protocolMessage;
  if (!device || requester.account !== phone.account || !protocol) return;
  const request = protocol.peerDataOperationRequestMessage;
  const type = request?.peerDataOperationRequestType;
  if (type === HISTORY_SYNC_ON_DEMAND && request?.historySyncOnDemandRequest) {
    await phone.sendPeer(device, olderMessages(phone, request.historySyncOnDemandRequest, id));
  } else if (type === PLACEHOLDER_MESSAGE_RESEND) {
    await phone.sendPeer(device, resentMessages(phone, request?.placeholderMessageResendRequest ?? [], id));
  } else if (protocol.appStateSyncKeyRequest) await phone.sendPeer(device, keyShare(phone));
}

function resentMessages(
  phone: PhoneContext,
  requests: proto.Message.PeerDataOperationRequestMessage.IPlaceholderMessageResendRequest[],
  requestId: string,
): proto.IMessage {
  return {
    protocolMessage: {
      type: Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
      peerDataOperationRequestResponseMessage: {
        peerDataOperationRequestType: PLACEHOLDER_MESSAGE_RESEND,
        stanzaId: requestId,
        peerDataOperationResult: requests.flatMap(({ messageKey }) => {
          const message = phone.messages.get(messageKey?.id ?? '');
          if (!message || isViewOnce(decodeContent(message.content))) return [];
          const webMessageInfoBytes = proto.WebMessageInfo.encode(webMessage(phone, message)).finish();
          return [{ placeholderMessageResendResponse: { webMessageInfoBytes } }];
        }),
      },
    },
  };
}

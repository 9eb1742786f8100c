import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { sealRetryAnswer } from '../media/media-crypto.js';
import type { Device } from '../network/account.js';
import { child, node, type Node } from '../wire/node.js';
import { attachmentOf } from './attachments.js';
import { decodeContent } from './content.js';
import type { PhoneContext } from './phone-context.js';

const { SUCCESS, NOT_FOUND } = proto.MediaRetryNotification.ResultType;

/** A companion could not fetch a file any more: the phone uploads its own copy again and sends its new path. */
export function uploadAgain(phone: PhoneContext, device: Device, stanza: Node): void {
  const id = stanza.attrs['id'] ?? '';
  const rmr = child(stanza, 'rmr');
  const message = phone.messages.get(id);
  const attachment = message && attachmentOf(decodeContent(message.content))?.attachment;
  const { mediaKey } = attachment ?? {};
  const path = attachment?.directPath ?? undefined;
  const directPath = path === undefined ? undefined : phone.network.media.renew(path);
  const attrs = { type: 'mediaretry', from: phone.account.phoneJid, id, t: phone.network.timestamp() };
  if (!mediaKey || directPath === undefined) {
    device.deliver(node('notification', attrs, withRequest(rmr, node('error', { code: String(NOT_FOUND) }))));
    return;
  }
  const answer = proto.MediaRetryNotification.encode({ stanzaId: id, directPath, result: SUCCESS }).finish();
  const { sealed, iv } = sealRetryAnswer(answer, mediaKey, id);
  const encrypted = node('encrypt', {}, [node('enc_p', {}, sealed), node('enc_iv', {}, iv)]);
  device.deliver(node('notification', attrs, withRequest(rmr, encrypted)));
}

const withRequest = (rmr: Node | undefined, answer: Node): Node[] => (rmr ? [answer, rmr] : [answer]);

import type { StoredMessage } from '@dormouse/message-store/write';
import { keyToNetwork } from '../../convert/act-to-network.js';
import { decodeMessage, encodeMessage, type MessageContent } from '../../convert/message-bytes.js';
import { innerContent } from '../../convert/opened-message.js';
import { toNumber } from '../../convert/present.js';
import { receivedFile } from '../../media/received-file.js';
import type { NetworkFile } from '../../media/outgoing.js';
import type { PreparationContext } from '../command-context.js';
import type { MediaTools } from './message-tools.js';

/** Younger files are still on the network and stay there for a while: it deletes them after about two weeks (mautrix/whatsapp#474). */
const RENEW_AFTER_S = 12 * 24 * 60 * 60;

const PARTS = [
  'imageMessage',
  'videoMessage',
  'ptvMessage',
  'audioMessage',
  'documentMessage',
  'stickerMessage',
] as const;

/**
 * A message to be forwarded, with its file on the network: a file that the network has deleted, or soon will, is uploaded
 * again. A message without a file, or whose file is no longer available anywhere, stays as it is.
 */
export async function withRenewedFile(
  context: PreparationContext,
  tools: Pick<MediaTools, 'media' | 'now'>,
  stored: StoredMessage,
): Promise<StoredMessage> {
  const content = stored.proto && innerContent(decodeMessage(stored.proto));
  const file = receivedFile(content);
  const name = PARTS.find((part) => content?.[part]);
  const part = name && content?.[name];
  if (!content || !file || !part) return stored;
  const uploadedS = toNumber(part.mediaKeyTimestamp) ?? stored.message.timestamp;
  if (tools.now() / 1_000 - uploadedS < RENEW_AFTER_S) return stored;
  const placed = await uploadedAgain(context, tools, stored, { kind: file.kind, content });
  if (!placed) return stored;
  return {
    ...stored,
    proto: Buffer.from(encodeMessage({ [name]: { ...part, ...pointerTo(placed) } })),
  };
}

async function uploadedAgain(
  context: PreparationContext,
  { media }: Pick<MediaTools, 'media'>,
  stored: StoredMessage,
  { kind, content }: { kind: NetworkFile['kind']; content: MessageContent },
): Promise<NetworkFile | undefined> {
  const { channelId } = context;
  const session = await context.openSession();
  const { message } = stored;
  const shown = message[message.type];
  if (typeof shown !== 'object' || shown === null || !('id' in shown)) return undefined;
  const mediaId = String(shown.id);
  if (!message.from_me && !(await media.files.file(channelId, mediaId))) {
    const received = { key: keyToNetwork(stored), message: content };
    const { network, fileRoute } = session;
    await media.incoming.fetch({ channelId, mediaId, message: received, network, fileRoute }).catch(() => undefined);
  }
  const file = await media.files.file(channelId, mediaId);
  // A received file is in the network's form already.
  return file && media.outgoing.place(session, file, kind, { asIs: !message.from_me, signal: context.signal });
}

function pointerTo({ copy }: NetworkFile) {
  const { url, directPath, mediaKey, fileSha256, fileEncSha256, fileLength, uploadedAtMs } = copy;
  const mediaKeyTimestamp = Math.floor(uploadedAtMs / 1_000);
  return { url, directPath, mediaKey, fileSha256, fileEncSha256, fileLength, mediaKeyTimestamp };
}

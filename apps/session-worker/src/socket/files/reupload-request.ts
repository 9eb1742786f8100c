/**
 * Requests the own phone to upload a file again. Baileys' `updateMediaMessage` is not used: it has no timeout and leaves
 * its listener when the phone does not answer.
 */
import { GatewayError } from '@dormouse/gateway-contract';
import {
  decryptMediaRetryData,
  encryptMediaRetryRequest,
  proto,
  type BaileysEventMap,
  type WAMessageKey,
  type WASocket,
} from '@whiskeysockets/baileys';

/** The part of a socket that is used. */
export interface MediaRetrySocket {
  readonly sendNode: WASocket['sendNode'];
  readonly authState: { readonly creds: { readonly me?: { readonly id: string } } };
  readonly ev: Pick<WASocket['ev'], 'on' | 'off'>;
}

/** Retry-After of a 503: a phone that was offline may be online again by then. */
const RETRY_AFTER_S = 30;

const { ResultType } = proto.MediaRetryNotification;

function answerOf(update: BaileysEventMap['messages.media-update'][number], id: string, mediaKey: Uint8Array): string {
  if (update.error || !update.media) {
    throw new GatewayError(404, { details: 'the phone no longer has the file' }, { cause: update.error });
  }
  const { result, directPath } = decryptMediaRetryData(update.media, mediaKey, id);
  if (result === ResultType.SUCCESS && directPath) return directPath;
  throw new GatewayError(404, { details: 'the phone no longer has the file' });
}

/**
 * @returns the new path of the file
 * @throws {GatewayError} 404 when the phone does not have it, 503 when it does not answer in time or the socket closes
 */
export async function requestReupload(
  socket: MediaRetrySocket,
  key: WAMessageKey,
  mediaKey: Uint8Array,
  timeoutMs: number,
): Promise<string> {
  const { id } = key;
  const ownId = socket.authState.creds.me?.id;
  if (!id || !ownId) throw new GatewayError(502, { details: 'the file cannot be requested from the phone' });
  let stop: () => void = () => undefined;
  const answered = new Promise<string>((resolve, reject) => {
    const failed = (details: string) => reject(new GatewayError(503, { details, retryAfterS: RETRY_AFTER_S }));
    const timer = setTimeout(
      () => failed('the network no longer has the file and the phone did not answer'),
      timeoutMs,
    );
    const onAnswer = (updates: BaileysEventMap['messages.media-update']) => {
      const update = updates.find((one) => one.key.id === id);
      if (!update) return;
      try {
        resolve(answerOf(update, id, mediaKey));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const onConnection = ({ connection }: BaileysEventMap['connection.update']) => {
      if (connection === 'close') failed('the connection closed before the phone answered');
    };
    socket.ev.on('messages.media-update', onAnswer);
    socket.ev.on('connection.update', onConnection);
    stop = () => {
      clearTimeout(timer);
      socket.ev.off('messages.media-update', onAnswer);
      socket.ev.off('connection.update', onConnection);
    };
  });
  answered.catch(() => undefined);
  try {
    // The listeners are added first: the phone may answer before the send resolves.
    await socket.sendNode(encryptMediaRetryRequest(key, mediaKey, ownId));
    return await answered;
  } finally {
    stop();
  }
}

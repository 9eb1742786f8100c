import type { WASocket } from '@whiskeysockets/baileys';
import type { NetworkFileType } from '../files/network-files.js';
import { requestReupload } from '../files/reupload-request.js';
import type { MessageKey } from './message-requests.js';

/** An encrypted file that is to be uploaded. */
export interface UploadFile {
  readonly path: string;
  readonly type: NetworkFileType;
  /** SHA-256 of the encrypted bytes, in base64. */
  readonly sha256: string;
  readonly timeoutMs: number;
}

/** Where the network has a file. */
export interface UploadedFile {
  readonly mediaUrl: string;
  readonly directPath: string;
}

export interface FileRequests {
  upload(file: UploadFile): Promise<UploadedFile>;
  /**
   * Requests the own phone to upload the file of a message again to the network's host.
   * @returns the new path of the file
   * @throws {GatewayError} 404 when the phone does not have it, 503 when it does not answer in time or the connection ends
   */
  requestReupload(key: MessageKey, mediaKey: Uint8Array, timeoutMs: number): Promise<string>;
}

export function fileRequests(socket: WASocket): FileRequests {
  return {
    upload: ({ path, type, sha256, timeoutMs }) =>
      socket.waUploadToServer(path, { fileEncSha256B64: sha256, mediaType: type, timeoutMs }),
    requestReupload: (key, mediaKey, timeoutMs) => requestReupload(socket, key, mediaKey, timeoutMs),
  };
}

/** What a failure of the network means to the caller. What is not listed here is a 502 without details. */
import { GatewayError, type ErrorStatus } from '@dormouse/gateway-contract';
import { refusalOf } from '../convert/refusal.js';
import { isConnectionLost, refusedRequest } from '../socket/requests/refused-request.js';

/**
 * Codes of the network, in acknowledgements of messages and in answers to queries. 463 and 479 are in Baileys 7.0.0-rc14,
 * lib/Utils/decode-wa-message.js:60 (SERVER_ERROR_CODES) and lib/Socket/messages-recv.js:1514; the others have their
 * meaning of HTTP.
 */
const STATUS_OF_CODE: Record<number, ErrorStatus> = {
  /** Not in the group, or not an admin of it. */
  401: 403,
  403: 403,
  /** No such group, message or picture. */
  404: 404,
  /** The group or the message is gone. */
  410: 404,
  429: 429,
  /** The channel may not start a chat with this recipient, or may start no new chats for a while. */
  463: 403,
};

const RETRY_AFTER_S = 30;

/** The error that the sender of a message gets for a refusal in the network's acknowledgement. */
export function refusedMessage(code: string): GatewayError {
  const refusal = refusalOf(code);
  return fromCode(refusal.code, refusal.message);
}

/**
 * The error that a failed call of the library means.
 * @returns undefined for an error that did not come from the network
 */
export function networkError(error: unknown): GatewayError | undefined {
  const code = refusedRequest(error);
  if (code !== undefined) return fromCode(code, `the network answered ${code}`, error);
  return isConnectionLost(error)
    ? new GatewayError(502, { details: 'the connection to the network dropped before it answered' }, { cause: error })
    : undefined;
}

function fromCode(code: number, details: string, cause?: unknown): GatewayError {
  const status = STATUS_OF_CODE[code] ?? 502;
  return new GatewayError(
    status,
    { details, ...(status === 429 && { retryAfterS: RETRY_AFTER_S }) },
    cause === undefined ? {} : { cause },
  );
}

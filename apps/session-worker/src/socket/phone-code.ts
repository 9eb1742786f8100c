import { GatewayError } from '@dormouse/gateway-contract';
import type { WASocket } from '@whiskeysockets/baileys';

const ANSWERED_WITHIN_MS = 10_000;

/**
 * Has the network link the device by a code of eight letters that is entered on the phone of this number. A later request replaces
 * the code of an earlier one; the codes to scan stay valid.
 * @param phone digits with country code
 * @throws {GatewayError} 400 when the network refuses the number, 503 when it does not answer
 */
export async function requestPhoneCode(socket: WASocket, phone: string): Promise<string> {
  // The library does not wait for the answer: a code that the network has refused would look like any other.
  const answer = answerTo(socket);
  try {
    const code = await socket.requestPairingCode(phone);
    await answer.promise;
    return code;
  } finally {
    answer.end();
  }
}

function answerTo({ ws }: WASocket): { promise: Promise<void>; end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    const taken = (): void => resolve();
    const refused = (): void =>
      reject(new GatewayError(400, { details: 'phone: the network gives no code for this number: check it, or scan' }));
    const away = (): void => reject(new GatewayError(503, { details: 'the network has not answered', retryAfterS: 2 }));
    const events = [
      ['CB:iq,type:result,link_code_companion_reg', taken],
      ['CB:iq,type:error,error', refused],
      ['close', away],
    ] as const;
    for (const [event, handle] of events) ws.on(event, handle);
    const timer = setTimeout(away, ANSWERED_WITHIN_MS);
    end = () => {
      clearTimeout(timer);
      for (const [event, handle] of events) ws.off(event, handle);
    };
  });
  promise.catch(() => undefined); // the request itself may fail before
  return { promise, end: () => end() };
}

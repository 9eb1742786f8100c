/**
 * Why the network refused a message, by the code in its acknowledgement. 463 and 479: Baileys 7.0.0-rc14,
 * lib/Utils/decode-wa-message.js:60 (SERVER_ERROR_CODES). A code that is not listed is reported by its number.
 */
const REASONS: Record<number, string> = {
  400: 'the network could not read the message',
  403: 'the network does not permit this message in this chat',
  404: 'the network does not know the recipient',
  406: 'the network does not accept this message',
  429: 'the network refused the message: too many in a short time',
  463: 'recipient refused by the network',
  479: 'the network refused the form of the message',
};

/** The refusal as an entry of a status's `errors`. */
export function refusalOf(code: string | number | undefined): { code: number; message: string } {
  const number = Number(code);
  if (!Number.isInteger(number)) return { code: 0, message: 'refused by the network' };
  return { code: number, message: REASONS[number] ?? 'refused by the network' };
}

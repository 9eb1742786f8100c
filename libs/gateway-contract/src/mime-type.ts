/** Media types in the syntax of headers (RFC 9110, 8.3.1), as given by customers or claimed by other servers. */

/** No real type is longer, in characters. */
const MAX_LENGTH = 255;
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const QUOTED = '"(?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*"';
const PARAMETER = new RegExp(`^(${TOKEN})=(${TOKEN}|${QUOTED})$`);
const TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`);
const PARTS = new RegExp(`(?:${QUOTED}|[^;"])+|"`, 'g');

/**
 * A media type with its parameters: `audio/ogg; codecs=opus`. The type is in lower case, parameters are as they came.
 * @returns undefined when a header could not hold it
 */
export function readMimeType(text: string | null | undefined): string | undefined {
  const [type, ...parameters] = partsOf(text);
  if (type === undefined || !TYPE.test(type)) return undefined;
  if (!parameters.every((parameter) => parameter === '' || PARAMETER.test(parameter))) return undefined;
  return [type.toLowerCase(), ...parameters.filter((parameter) => parameter !== '')].join('; ');
}

/** The same, but of parameters only those are taken that a header can hold. */
export function usableMimeType(text: string | null | undefined): string | undefined {
  const [type, ...parameters] = partsOf(text);
  return readMimeType([type, ...parameters.filter((parameter) => PARAMETER.test(parameter))].join(';'));
}

function partsOf(text: string | null | undefined): string[] {
  if (!text || text.length > MAX_LENGTH) return [];
  return (text.match(PARTS) ?? []).map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''));
}

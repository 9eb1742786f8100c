import { StringDecoder } from 'node:string_decoder';

/** Reads the inside of a JSON string that comes in pieces of bytes, cut anywhere. */
export class JsonText {
  readonly #utf8 = new StringDecoder('utf8');
  /** An escape sequence whose end has not come. */
  #begun = '';

  /** @throws {SyntaxError} for what may not stand in a JSON string */
  push(bytes: Buffer): string {
    const text = this.#begun + this.#utf8.write(bytes);
    const complete = completeUntil(text);
    this.#begun = text.slice(complete);
    return unescaped(text.slice(0, complete));
  }

  /** @throws {SyntaxError} for an escape sequence without its end */
  end(): string {
    return unescaped(this.#begun + this.#utf8.end());
  }
}

function unescaped(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

/** Where an escape sequence begins whose end is not in the text; its length when there is none. */
function completeUntil(text: string): number {
  const begun = /\\(?:u[\da-f]{0,3})?$/i.exec(text.slice(-5));
  if (!begun) return text.length;
  const at = text.length - begun[0].length;
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 0 ? at : text.length;
}

/** Bytes of a name most file systems take. */
const LONGEST_NAME_BYTES = 240;

/** Controls, and the marks that turn text around and so let `exe.gpj` read as `jpg.exe`. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const FORBIDDEN_IN_NAMES = /[<>:"|?*]/g;

/** Cuts a name to what fits, keeping its extension and never splitting a character. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST_NAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  let kept = '';
  let bytes = Buffer.byteLength(extension);
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > LONGEST_NAME_BYTES) break;
    kept += character;
  }
  return kept + extension;
}

/**
 * The name a file is kept and sent under: the last part of what was given (`./files/a.jpg` and `C:\x\a.jpg` give
 * `a.jpg`), in any script, without control characters, characters a file system refuses, or dots and spaces at its ends.
 * Undefined when nothing is left.
 */
export function safeFileName(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const wellFormed = given.replace(/\p{Surrogate}/gu, '').normalize('NFC');
  const base = wellFormed.split(/[/\\]/).pop() ?? '';
  const name = base
    .replace(INVISIBLE, '')
    .replace(FORBIDDEN_IN_NAMES, '_')
    .replace(/^[\s.]+|[\s.]+$/g, '');
  return name === '' ? undefined : shorten(name);
}

/** The name with an extension: its own, or else the one of its content. */
export function withExtension(name: string, extension: string): string {
  return /\.[^.\s]{1,10}$/.test(name) ? name : `${name}.${extension}`;
}

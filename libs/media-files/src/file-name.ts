/** Bytes of a name most file systems take. */
const LONGEST_NAME_BYTES = 240;

/**
 * Controls, halves of characters, and the marks that turn text around and so let `exe.gpj` read as `jpg.exe`. What joins
 * or parts letters (U+200C, U+200D) stays: scripts and emoji need it.
 */
const HARMFUL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

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
 * The name under which a file is stored, sent and downloaded: the last part of the given path (`./files/a.jpg` and
 * `C:\x\a.jpg` give `a.jpg`), in any script, without characters that hide or reverse text and without blanks at its
 * ends. Everything else stays, quotes and colons included. Undefined when nothing is left.
 */
export function safeFileName(given: string | null | undefined): string | undefined {
  const base = given?.split(/[/\\]/).pop() ?? '';
  const name = base.replace(HARMFUL, '').trim();
  // `.` and `..` are paths.
  return /^\.*$/.test(name) ? undefined : shorten(name);
}

/** The name with an extension: its own, or else the one of its content, unless that is nothing in particular (`bin`). */
export function withExtension(name: string, extension: string): string {
  return extension === 'bin' || /\.[^.\s]{1,10}$/.test(name) ? name : shorten(`${name}.${extension}`);
}

/** Control characters, and halves of surrogate pairs that stand alone: PostgreSQL or headers refuse them. */
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;

/** Whether text holds characters that no id, name, address or setting has. */
export function hasUnstorable(value: string): boolean {
  return UNSTORABLE.test(value);
}

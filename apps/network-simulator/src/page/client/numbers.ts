const NUMBER = /^\d{5,17}$/;

/**
 * Phone numbers as people type them: separated by commas, semicolons or lines, or one after the other with their `+`.
 * Blanks, dashes, dots and parentheses inside a number are ignored.
 * @returns the digits of each, every number once
 * @throws Error that names the part that is not a number
 */
export function numbersIn(text: string): string[] {
  const parts = text
    .split(/[,;\n]|(?=\+)/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return [...new Set(parts.flatMap(digitsOf))];
}

/** Like {@link numbersIn}, for a field that takes one number. */
export function numberIn(text: string): string {
  const [number, another] = numbersIn(text);
  if (number === undefined) throw new Error('Type a phone number.');
  if (another !== undefined) throw new Error('Type one number only.');
  return number;
}

function digitsOf(part: string): string[] {
  const digits = part.replace(/[\s().+-]/g, '');
  if (NUMBER.test(digits)) return [digits];
  // Without any sign between them, numbers can only be told apart by their blanks.
  const words = part.split(/\s+/);
  if (words.length > 1 && words.every((word) => NUMBER.test(word))) return words;
  throw new Error(`${part} is not a phone number.`);
}

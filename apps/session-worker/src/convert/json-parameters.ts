/** Parameters that messages carry as JSON text. The sender writes them, so they can be malformed. */
import { z } from 'zod';

const parameters = z.record(z.string(), z.unknown());

/** Longest text that is parsed, in characters; clients write shorter ones. */
const MAX_LENGTH = 65_536;

/**
 * Reads parameters.
 * @returns undefined when the text is not a JSON object
 */
export function jsonParameters(text: string | null | undefined): Record<string, unknown> | undefined {
  if (!text || text.length > MAX_LENGTH) return undefined;
  try {
    return parameters.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The first of the named values that is a non-empty text, or a number. */
export function textOf(values: Record<string, unknown> | undefined, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = values?.[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

/** The objects in a list; other entries are skipped. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry): Record<string, unknown>[] => {
    const { data } = parameters.safeParse(entry);
    return data ? [data] : [];
  });
}

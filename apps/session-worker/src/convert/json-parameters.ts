/** Parameters that the network carries as JSON text: whoever made them may have made them badly. */
import { z } from 'zod';

const parameters = z.record(z.string(), z.unknown());

/** Longer than any client makes them. */
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

/** The first of the named values that is a text with something in it. */
export function textOf(values: Record<string, unknown> | undefined, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = values?.[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

/** The objects in a list; what is none is passed over. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry): Record<string, unknown>[] => {
    const { data } = parameters.safeParse(entry);
    return data ? [data] : [];
  });
}

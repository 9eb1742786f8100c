import type { z } from 'zod';
import { businessKinds } from './business.js';
import { conversationKinds } from './conversation.js';
import { pollKinds } from './polls.js';
import type { Composed, Kind, KindPlace } from './kind.js';

/** Every kind of message that has a name of its own, by the field of a draft that holds it. */
const kinds = { ...pollKinds, ...conversationKinds, ...businessKinds };

type Kinds = typeof kinds;
type Shape = { [K in keyof Kinds]: z.ZodOptional<Kinds[K]['schema']> };

/** The kinds as fields of a draft. */
export const kindFields = Object.fromEntries(
  Object.entries(kinds).map(([name, { schema }]) => [name, schema.optional()]),
) as Shape;

/** What may be given of a kind. */
export type KindDraft = { [K in keyof Kinds]?: z.input<Kinds[K]['schema']> | undefined };

/** The message that a draft names by one of these kinds; `undefined` when it names none. */
export function composeKind(draft: KindDraft, place: KindPlace): Composed | undefined {
  for (const [name, given] of Object.entries(draft)) {
    const found: Kind | undefined = Object.hasOwn(kinds, name) ? kinds[name as keyof Kinds] : undefined;
    if (found && given !== undefined) return found.compose(given, place);
  }
  return undefined;
}

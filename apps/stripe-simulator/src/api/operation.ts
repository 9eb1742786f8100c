import type { z } from 'zod';
import type { AnyRecord } from '../objects/records.js';
import type { WireObject } from '../objects/wire-object.js';
import type { World } from '../world/world.js';
import type { FormNode } from '../wire/form.js';
import { readParameters } from '../wire/parameters.js';

/** What an operation answers: a record, which is shown by its view, or an object as it is. */
export type Answer = { record: AnyRecord } | { object: WireObject };

/** One request that the API understands. */
export interface Operation {
  method: 'GET' | 'POST' | 'DELETE';
  /** For example `/v1/customers/:customer`. */
  path: string;
  /** Reads the parameters; throws the API's 400. What it returns does the work, inside a transaction. */
  prepare(world: World, ids: Record<string, string>, given: FormNode): { expand: string[]; run: () => Answer };
}

/** An operation with the parameters that it understands. */
export function operation<S extends z.ZodType<{ expand?: string[] | undefined }>>(
  method: Operation['method'],
  path: string,
  schema: S,
  run: (world: World, given: z.output<S>, ids: Record<string, string>) => Answer,
): Operation {
  return {
    method,
    path,
    prepare: (world, ids, form) => {
      const given = readParameters(schema, form);
      return { expand: given.expand ?? [], run: () => run(world, given, ids) };
    },
  };
}

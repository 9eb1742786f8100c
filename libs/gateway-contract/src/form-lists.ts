/**
 * Lists that stand as JSON in the text of a form. They have the bounds of a JSON body: an empty object takes three bytes
 * in the text and a hundred in memory, and JSON.parse creates all of them at once.
 */
import { GatewayError } from './errors.js';

/** Of a JSON body, or of a list in a form: three times as many as the longest list that the contract takes has. */
export const MAX_JSON_VALUES = 10_000;
/** Levels of nesting of the same. */
export const MAX_JSON_DEPTH = 64;
const STRINGS_AND_STRUCTURE = /"(?:[^"\\]|\\.)*"?|[[\]{},]/gs;

/**
 * Counts the values of a JSON text without creating them.
 * @throws {GatewayError} 400 naming the field, for too many values or levels
 */
export function requireFewValues(field: string, text: string): void {
  let values = 0;
  let depth = 0;
  for (const [token] of text.matchAll(STRINGS_AND_STRUCTURE)) {
    if (token === ']' || token === '}') depth -= 1;
    else if (!token.startsWith('"')) {
      values += 1;
      if (token !== ',' && ++depth > MAX_JSON_DEPTH) {
        throw new GatewayError(400, { details: `${field}: nested deeper than ${MAX_JSON_DEPTH} levels` });
      }
      if (values > MAX_JSON_VALUES) {
        throw new GatewayError(400, {
          details: `${field}: has more than ${MAX_JSON_VALUES} values: send less at a time`,
        });
      }
    }
  }
}

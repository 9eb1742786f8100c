import type { Wire } from '../wire/expansion.js';
import type { WireObject } from '../objects/wire-object.js';

/** The fields of an object that changed, as they were before: what an event of an update carries. */
export function previousAttributes(before: WireObject, after: WireObject): WireObject {
  const previous: WireObject = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name] ?? null, after[name] ?? null];
    if (JSON.stringify(old) === JSON.stringify(now)) continue;
    previous[name] = isPlainObject(old) && isPlainObject(now) ? previousAttributes(old, now) : old;
  }
  return previous;
}

function isPlainObject(value: Wire): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

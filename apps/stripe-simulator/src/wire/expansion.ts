import { invalid } from './stripe-fault.js';

/** A value of an answer. */
export type Wire = string | number | boolean | null | Wire[] | { [name: string]: Wire };
type WireObject = { [name: string]: Wire };

const MAX_LEVELS = 4;

/** Where expansion finds what an id stands for, and what an object has only when it is asked for. */
export interface Shelf {
  byId(id: string): WireObject | undefined;
  /** A field that is left out unless it is expanded; undefined when the object has no such field. */
  extra(object: WireObject, field: string): Wire | undefined;
}

/** Replaces ids by objects along paths of up to four names, such as `latest_invoice.payments` or `data.customer`. Throws the API's 400 for a path that leads nowhere. */
export function expand(answer: WireObject, paths: readonly string[], shelf: Shelf): WireObject {
  let expanded: Wire = answer;
  for (const path of paths) {
    const names = path.split('.');
    if (names.length > MAX_LEVELS)
      throw invalid(
        `You cannot expand more than 4 levels of a property: ${path}`,
        'expand',
        'property_expansion_depth',
      );
    expanded = along(expanded, names, path, shelf);
  }
  return expanded as WireObject;
}

function along(value: Wire, names: readonly string[], path: string, shelf: Shelf): Wire {
  const [name, ...rest] = names;
  if (name === undefined || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => along(one, names, path, shelf));
  if (typeof value !== 'object') throw cannotExpand(path);
  const found = value[name] ?? shelf.extra(value, name) ?? (name in value ? null : undefined);
  if (found === undefined) throw cannotExpand(path);
  const opened = Array.isArray(found) ? found.map((one) => open(one, path, shelf)) : open(found, path, shelf);
  return { ...value, [name]: along(opened, rest, path, shelf) };
}

function open(found: Wire, path: string, shelf: Shelf): Wire {
  if (typeof found === 'object') return found;
  const object = typeof found === 'string' ? shelf.byId(found) : undefined;
  if (!object) throw cannotExpand(path);
  return object;
}

function cannotExpand(path: string) {
  return invalid(`This property cannot be expanded (${path}).`, 'expand');
}

import { invalid } from './stripe-fault.js';

/** A body or a query as it came: text, or named parts. Lists are parts with the names 0, 1, 2. */
export type FormValue = string | FormNode;
export interface FormNode {
  [name: string]: FormValue;
}

const KEY = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;
const MAX_DEPTH = 8;

/**
 * Reads `a=1&items[0][price]=p&expand[]=x` into nested parts. An empty pair of brackets takes the next number.
 * Throws the API's 400 for a name that is not well formed or that is text and parts at once.
 */
export function parseForm(text: string): FormNode {
  const root = emptyNode();
  for (const [key, value] of new URLSearchParams(text)) {
    const match = KEY.exec(key);
    if (!match) throw invalid(`Invalid parameter name: ${key}`, key);
    const inner = [...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, name]) => name ?? '');
    const path = [match[1] ?? '', ...inner];
    if (path.length > MAX_DEPTH) throw invalid(`Parameter is nested too deeply: ${key}`, key);
    place(root, path, value, key);
  }
  return root;
}

function place(root: FormNode, path: string[], value: string, key: string): void {
  let node = root;
  path.forEach((given, depth) => {
    const name = given === '' ? String(Object.keys(node).length) : given;
    const present = node[name];
    if (depth === path.length - 1) {
      if (typeof present === 'object') throw invalid(`Invalid parameter: ${key} is both a value and an object`, key);
      node[name] = value;
      return;
    }
    if (typeof present === 'string') throw invalid(`Invalid parameter: ${key} is both a value and an object`, key);
    node = present ?? (node[name] = emptyNode());
  });
}

/** Without a prototype, so that a parameter `__proto__` is a name like any other. */
function emptyNode(): FormNode {
  return Object.create(null) as FormNode;
}

/** The name of a place in a form, as clients write it: `items[0][price]`. */
export function parameterName(path: readonly PropertyKey[]): string {
  const [first = '', ...rest] = path.map(String);
  return first + rest.map((name) => `[${name}]`).join('');
}

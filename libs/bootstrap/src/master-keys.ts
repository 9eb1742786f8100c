import { requireTogether } from './dependent-switches.js';
import { ConfigError } from './read-config.js';

/** Keys by id, and under which of them is sealed from now on. */
export interface MasterKeys<Current extends string | undefined = string> {
  readonly currentId: Current;
  /** All keys, the current one included. */
  readonly keys: ReadonlyMap<string, Buffer>;
}

export interface GivenMasterKeys {
  /** Name of the variable that holds the current key; its id is in `<name>_ID`, the others are in `<earlier>`. */
  name: string;
  earlierName: string;
  key: Buffer | undefined;
  id: string | undefined;
  earlier: Readonly<Record<string, Buffer>>;
}

/**
 * The master keys of a process. An id that stands for two keys would seal what cannot be opened, and a key under two ids
 * would be forgotten under one of them while the other still needs it: both are refused.
 * @throws {ConfigError} without repeating a key
 */
export function masterKeysFrom(given: GivenMasterKeys): MasterKeys<string | undefined> {
  const { name, earlierName, key, id, earlier } = given;
  requireTogether({ [name]: key, [`${name}_ID`]: id }, [name, `${name}_ID`]);
  if (id !== undefined && Object.hasOwn(earlier, id)) {
    throw new ConfigError([
      `${earlierName}: names "${id}", which is the id of ${name}; give every key an id of its own`,
    ]);
  }
  const keys = new Map(Object.entries(earlier));
  if (key && id !== undefined) keys.set(id, key);
  if (keys.size === 0) throw new ConfigError([`${name}: required`]);
  const ids = new Map<string, string>();
  for (const [each, bytes] of keys) {
    const print = bytes.toString('base64');
    const other = ids.get(print);
    if (other !== undefined) {
      throw new ConfigError([`${earlierName}: "${other}" and "${each}" are the same key; give it one id only`]);
    }
    ids.set(print, each);
  }
  return { currentId: id, keys };
}
